import { setTimeout as pause } from 'node:timers/promises';
import type { ObjectId } from 'mongodb';
import { z } from 'zod';
import { t } from '../../language/t.ts';
import { RENEW_MS } from '../../listeners/delivery-limits.ts';
import type { Listener } from '../../listeners/listener.ts';
import { listenerPort, unansweredVotes } from '../../listeners/listener-settings.ts';
import { after, HOUR, SECOND } from '../../platform/clock.ts';
import { TOLERANCE_MS } from '../../platform/clock-skew.ts';
import { hostSchema, parseInput } from '../../platform/input.ts';
import { LEASES, type Vote } from '../../votes/vote.ts';
import { changeListener } from '../change-listener.ts';
import { secretContext } from '../credentials.ts';
import type { DeliveryDeps } from '../deps.ts';
import { asLiterals, type ListenerSet, storeListener } from '../store-listener.ts';
import { newSigningSecret, portOf } from './http-message.ts';

/** For this long after a rotation, votes are signed with both secrets. */
export const SECRET_OVERLAP_MS = 24 * HOUR;

const LONGEST_URL = 2_048;

/** Of a vote listener or a subscription; the rules of docs/delivery.md. */
export const listenerUrl = z
  .string({ error: () => t('must be text') })
  .trim()
  .max(LONGEST_URL, { error: () => t('must have at most {max, number} characters', { max: LONGEST_URL }) })
  .transform((text, context) => {
    const fault = (message: string) => {
      context.addIssue({ code: 'custom', message });
      return z.NEVER;
    };
    const url = URL.parse(text);
    if (!url || !/^https?:$/.test(url.protocol)) {
      return fault(t('The URL must begin with https:// (or http://), like https://example.org/votes.'));
    }
    if (url.username || url.password) {
      return fault(t('The URL must have no user name and no password: messages are signed instead.'));
    }
    url.hash = '';
    const host = hostSchema.safeParse(url.hostname);
    if (!host.success)
      return fault(host.error.issues[0]?.message ?? t('The host of the URL cannot be read.'));
    const port = listenerPort.safeParse(portOf(url));
    if (!port.success) return fault(`The ${port.error.issues[0]?.message}.`);
    return { url: url.href, host: host.data, port: port.data };
  });

const httpSettings = unansweredVotes.extend({ url: listenerUrl });

type HttpListenerSettings = z.input<typeof httpSettings> & {
  /** Kept for a later change to Votifier. */
  serviceName: string;
};

/**
 * Sets a URL to which a server's votes are posted, signed as Standard Webhooks requires. If only the URL of an HTTP
 * listener is changed, its secret stays, so no votes are lost; `secret` is a new one (`whsec_…`), to be shown once.
 *
 * @throws {UnsealError} when the current secret cannot be read
 */
export async function setHttpListener(
  deps: DeliveryDeps,
  serverId: ObjectId,
  { serviceName, ...settings }: HttpListenerSettings,
  by: string,
): Promise<{ listener: ListenerSet; secret: string | null }> {
  const { url: address, maxSendings, resendUsedUp, rewards } = parseInput(httpSettings, settings);
  const context = secretContext({ serverId });
  // If another request made a secret meanwhile and showed it to the owner, that secret stays, and this call makes none.
  let secret: string | null = null;
  const listener = await storeListener(deps, serverId, { by, resendUsedUp, rewards }, (existing) => {
    const before = existing?.protocol === 'http' ? existing : null;
    secret = before ? null : newSigningSecret();
    // An unchanged secret is sealed again with the current SECRET_KEY, so that an earlier key is no longer needed.
    const signing = secret ?? deps.secrets.open(before?.sealedSecret ?? '', context);
    const sealedSecret = deps.secrets.seal(signing, context);
    const previousSecret = before?.previousSecret ?? null;
    const secrets = { sealedSecret, previousSecret };
    const fields = { protocol: 'http' as const, ...address, serviceName, ...secrets, maxSendings };
    return { fields, sameSecret: before !== null };
  });
  return { listener, secret };
}

/**
 * Makes a new signing secret (`whsec_…`, to be shown once) for an HTTP listener. From the moment that this returns,
 * every vote is signed with both secrets, for 24 hours. While votes are sent, that takes a second or two, at most ten.
 *
 * @param revision - with another one nothing is changed: a form that is sent twice rotates the secret once
 */
export async function rotateSecret(
  deps: DeliveryDeps,
  serverId: ObjectId,
  by: string,
  revision?: number,
): Promise<{ secret: string; previousValidUntil: Date } | null> {
  for (;;) {
    const before = await deps.listeners.findOne({ serverId, protocol: 'http' });
    if (!before || (revision !== undefined && before.revision !== revision)) return null;
    const secret = newSigningSecret();
    const until = after(deps.clock.now(), SECRET_OVERLAP_MS);
    const secrets = {
      sealedSecret: deps.secrets.seal(secret, secretContext({ serverId })),
      previousSecret: { sealed: before.sealedSecret, until },
    };
    // Of two simultaneous rotations, one finds this revision. The other reads the listener again.
    const which = { serverId, revision: before.revision };
    const rotated = await changeListener(deps, which, by, 'listener.rotate', asLiterals(secrets));
    if (!rotated) continue;
    // The secret is returned in any case: nobody could read it again.
    await untilUsed(deps, rotated).catch((error: unknown) => {
      deps.log.warn({ event: 'listener.rotation_not_awaited', reason: String(error) });
    });
    return { secret, previousValidUntil: until };
  }
}

/** It ends before a web process that stops ends. */
const LONGEST_WAIT_MS = 10 * SECOND;

/** A worker with the lease reads new settings within a second; attempts may last until their deadlines. */
async function untilUsed({ votes }: DeliveryDeps, { serverId, revision, lease }: Listener): Promise<void> {
  // Leases go by mongod's clock.
  if (!lease || after(lease.until, TOLERANCE_MS) < new Date()) return;
  const until = Date.now() + LONGEST_WAIT_MS;
  // A take may have begun just before its worker read the settings again.
  await pause(RENEW_MS + SECOND / 2);
  const leased = { serverId, 'delivery.leaseUntil': { $gt: new Date(0) } };
  const isEarlier = ({ delivery }: Pick<Vote, 'delivery'>) =>
    (delivery.attempts.at(-1)?.revision ?? revision) < revision;
  for (; Date.now() < until; await pause(SECOND / 10)) {
    const sending = await votes
      .find(leased, { projection: { 'delivery.attempts': 1 }, hint: LEASES })
      .toArray();
    if (!sending.some(isEarlier)) return;
  }
}
