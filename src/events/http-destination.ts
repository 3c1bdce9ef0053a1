import { Destination, shownToOwner, withListenerProof } from '../delivery/destination.ts';
import { type HttpTarget, postSigned } from '../delivery/http/http-client.ts';
import { portOf } from '../delivery/http/http-message.ts';
import { withoutSecrets } from '../delivery/send-vote.ts';
import type { ListenerProof } from '../listeners/listener.ts';
import type { Outcome } from '../listeners/outcomes.ts';
import { SECOND } from '../platform/clock.ts';
import type { EventsDeps } from './deps.ts';
import type { DestinationResult, EventOutcome, SendHow } from './destination.ts';
import type { ResolvedEvent } from './resolve-events.ts';
import type { Subscription } from './subscription.ts';
import { openSigningSecrets } from './subscription-secret.ts';

/** More would delay the votes that the same worker forwards (bench/events). */
const MOST_AT_ONCE = 2;

/** Of looking up the name, connecting twice, a challenge and the answer together. */
const LONGEST_ATTEMPT_MS = 15 * SECOND;

/** How long to wait after a failure of ours, such as too few sockets. */
const AFTER_OUR_FAULT_MS = 5 * SECOND;

/** Standard Webhooks: the receiver wants nothing more. */
const GONE = 410;

/**
 * Posts each event, signed as a vote is, to an address that has repeated a challenge. The first one alone: it may prove
 * the address, and a dead destination costs one attempt. A failure ends the call, and the other events stay due. As
 * `SendToDestination`.
 */
export async function sendOverHttp(
  deps: EventsDeps,
  subscription: Subscription,
  events: ResolvedEvent[],
  how: SendHow,
): Promise<DestinationResult> {
  const poster = await createPoster(deps, subscription, how);
  const result: DestinationResult = { outcomes: [] };
  const waiting = [...events];
  let isEnded = false;
  const postNext = async () => {
    const event = isEnded || how.signal.aborted || !how.mayStart() ? undefined : waiting.shift();
    if (!event) return false;
    const { outcome, ...more } = await poster.post(event);
    if (outcome) result.outcomes.push(outcome);
    Object.assign(result, more);
    isEnded ||= outcome?.end !== 'sent';
    return true;
  };
  if (await postNext())
    await Promise.all(
      Array.from({ length: MOST_AT_ONCE }, async () => {
        while (await postNext());
      }),
    );
  return { ...result, ...poster.proven() };
}

type Posted = { outcome: EventOutcome | null } & Pick<DestinationResult, 'isGone' | 'waitMs'>;

async function createPoster(
  deps: EventsDeps,
  subscription: Subscription,
  { signal, isTest = false }: SendHow,
) {
  const { config, secrets, servers, clock } = deps;
  const { serverId, url = '' } = subscription;
  const target: HttpTarget = {
    protocol: 'http',
    url,
    serverId: serverId.toHexString(),
    subscriptionId: subscription._id.toHexString(),
    ...openSigningSecrets(secrets, subscription),
  };
  const server = await servers.findOne({ _id: serverId }, { projection: { ownerId: 1 } });
  const about = { accountId: server?.ownerId?.toHexString() ?? null, isTest };
  let proven: ListenerProof[] = subscription.proven ?? [];
  let isNew = false;

  async function post(event: ResolvedEvent): Promise<Posted> {
    const reached = { protocol: 'http', port: portOf(new URL(url)), proven, lastDeliveredAt: null } as const;
    const destination = new Destination(deps, reached, about);
    const end = AbortSignal.any([signal, AbortSignal.timeout(LONGEST_ATTEMPT_MS)]);
    const began = performance.now();
    const { result, status } = await postSigned(
      target,
      { id: event._id, body: bodyOf(event) },
      {
        ranges: config,
        timeoutMs: config.LISTENER_TIMEOUT_MS,
        signal: end,
        waitSignal: end,
        mayWrite: () => true,
        destination,
      },
      clock.now(),
    );
    const durationMs = Math.round(performance.now() - began);
    if (destination.proof) {
      proven = withListenerProof(proven, destination.proof);
      isNew = true;
    }
    const shown = shownToOwner({ protocol: 'http', proven }, withoutSecrets(result, target));
    const reason = reasonOf(shown, event.data.username ?? '');
    const outcome = { eventId: event._id, durationMs, ...(status ? { status } : {}) };
    if (result.class === 'delivered') return { outcome: { ...outcome, end: 'sent' } };
    // The process is being stopped: the event stays due, and a repetition has the same id.
    if (signal.aborted) return { outcome: null };
    if (result.class === 'none' && !end.aborted)
      return { outcome: { ...outcome, reason, end: 'waits' }, waitMs: waitOf(destination, clock.now()) };
    const { retryAfterMs: waitMs } = result;
    return {
      outcome: { ...outcome, reason: end.aborted ? 'too-slow' : reason, end: 'retry' },
      ...(waitMs === undefined ? {} : { waitMs }),
      ...(status === GONE ? { isGone: reason } : {}),
    };
  }

  return { post, proven: () => (isNew ? { proven } : {}) };
}

function waitOf({ limited }: Destination, now: Date): number {
  return limited ? limited.until.getTime() - now.getTime() : AFTER_OUR_FAULT_MS;
}

/** The same in every attempt, unless a name was erased or the server renamed. */
function bodyOf({ type, at, data }: ResolvedEvent): string {
  return JSON.stringify({ type, timestamp: at.toISOString(), data });
}

/** Without the player's name: the log keeps reasons when the name is erased. */
function reasonOf({ code, words, detail }: Outcome, name: string): string {
  const said = [words, detail].filter(Boolean).join('. ');
  const nameless = name ? said.replaceAll(new RegExp(RegExp.escape(name), 'gi'), '[name]') : said;
  return [code, nameless].filter(Boolean).join(': ');
}
