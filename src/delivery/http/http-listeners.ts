import type { ObjectId } from 'mongodb';
import { z } from 'zod';
import { t } from '../../language/t.ts';
import { listenerPort, unansweredVotes } from '../../listeners/listener-settings.ts';
import { after, HOUR } from '../../platform/clock.ts';
import { hostSchema, parseInput } from '../../platform/input.ts';
import { secretContext } from '../credentials.ts';
import { changeListener } from '../listeners.ts';
import { asLiterals, type ListenerSet, type ListenerSetup, storeListener } from '../store-listener.ts';
import { newSigningSecret } from './http-message.ts';
import { portOf } from './url-port.ts';

/** After a rotation, votes are signed with the old secret as well for this long. */
const SECRET_OVERLAP_MS = 24 * HOUR;

const LONGEST_URL = 2_048;

/** The URL of an HTTP listener, with its host and port. */
const listenerUrl = z
  .string({ error: () => t('must be text') })
  .trim()
  .max(LONGEST_URL, { error: () => t('must have at most {max} characters', { max: LONGEST_URL }) })
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
      return fault(t('The URL must have no user name and no password: votes are signed instead.'));
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

/** The owner's settings of an HTTP listener. */
type HttpListenerSettings = z.input<typeof httpSettings> & {
  /** Stored for a later change to Votifier; the message does not contain it. */
  serviceName: string;
};

/** An HTTP listener that was set. */
type HttpListenerSet = {
  listener: ListenerSet;
  /** `whsec_…`, to be shown once; null when the server's HTTP listener keeps its secret. */
  secret: string | null;
};

/**
 * Sets a URL to which a server's votes are posted, signed by Standard Webhooks. The first call makes a secret; a later
 * change of the URL does not change it, so moving the page loses no votes (`rotateSecret` makes a new one).
 *
 * @throws {InvalidDocumentError} for a URL that cannot be used; {UnsealError} when the current secret cannot be read
 */
export async function setHttpListener(
  deps: ListenerSetup,
  serverId: ObjectId,
  { serviceName, ...settings }: HttpListenerSettings,
  by: string,
): Promise<HttpListenerSet> {
  const { url: address, maxSendings, resendUsedUp, rewards } = parseInput(httpSettings, settings);
  const context = secretContext({ serverId });
  // If another request made and showed a secret meanwhile, it must not be lost: this call then makes none.
  let secret: string | null = null;
  const listener = await storeListener(deps, serverId, { by, resendUsedUp, rewards }, (existing) => {
    const before = existing?.protocol === 'http' ? existing : null;
    secret = before ? null : newSigningSecret();
    // Sealed again with the current SECRET_KEY, so that an earlier SECRET_KEY is no longer needed.
    const signing = secret ?? deps.secrets.open(before?.sealedSecret ?? '', context);
    const sealedSecret = deps.secrets.seal(signing, context);
    const previousSecret = before?.previousSecret ?? null;
    const fields = {
      protocol: 'http',
      ...address,
      serviceName,
      sealedSecret,
      previousSecret,
      maxSendings,
    } as const;
    return { fields, sameSecret: before !== null };
  });
  return { listener, secret };
}

/** The result of a rotation. */
type RotatedSecret = {
  /** `whsec_…`, to be shown once. */
  secret: string;
  /** Until this time, votes are signed with the old secret as well. */
  previousValidUntil: Date;
};

/**
 * Makes a new signing secret for a server's HTTP listener. For 24 hours every vote is signed with both secrets, so that
 * the receiver can change to the new one without losing a vote. A secret of an earlier rotation is dropped at once.
 *
 * @param revision - only while the listener has this revision: a form that is sent twice rotates once
 * @returns null when the server has no such HTTP listener
 */
export async function rotateSecret(
  deps: ListenerSetup,
  serverId: ObjectId,
  by: string,
  revision?: number,
): Promise<RotatedSecret | null> {
  for (;;) {
    const before = await deps.listeners.findOne({ serverId, protocol: 'http' });
    if (!before || (revision !== undefined && before.revision !== revision)) return null;
    const secret = newSigningSecret();
    const until = after(deps.clock.now(), SECRET_OVERLAP_MS);
    // Only if the listener is unchanged: if two rotations run at the same time, only one succeeds.
    const secrets = {
      sealedSecret: deps.secrets.seal(secret, secretContext({ serverId })),
      previousSecret: { sealed: before.sealedSecret, until },
    };
    const which = { serverId, revision: before.revision };
    const rotated = await changeListener(deps, which, by, 'listener.rotate', asLiterals(secrets));
    if (rotated) return { secret, previousValidUntil: until };
  }
}
