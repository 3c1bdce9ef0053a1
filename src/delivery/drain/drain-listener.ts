import { ObjectId } from 'mongodb';
import type { Listener } from '../../listeners/listener.ts';
import { listenerState } from '../../listeners/listener-state.ts';
import { after, SECOND } from '../../platform/clock.ts';
import { serverLoader } from '../../servers/server-loader.ts';
import { countWaiting } from '../count-votes.ts';
import { detectOnce } from '../diagnosis/detect-service.ts';
import { removeVotesWithoutListener, removeWaitingVotes } from '../leave-queue.ts';
import type { OpenedListener } from '../send-vote.ts';
import { onOutcome, ourFault } from './attempts-under-way.ts';
import type { DrainDeps, DrainOptions, DrainResult } from './drain.ts';
import { LeasedListener, type ServerFacts } from './leased-listener.ts';
import { NOTHING_LEARNT, releaseLease, releaseWithRetries, takeLease } from './listener-lease.ts';
import { endLostAttempts, hasLostAttempts } from './lost-attempts.ts';
import { recordWithRetries } from './record-outcomes.ts';
import { type DrainLimits, sendDueVotes } from './send-due-votes.ts';
import { takeVotes } from './take-votes.ts';

const serversOfDrains = serverLoader({ name: 1, ownerId: 1, removedAt: 1 });

/**
 * Sends a listener's due votes in queue order until none is due or the drain must end: at most four at once, and one if
 * it is under test or unverified. A lease in MongoDB ensures that only one worker does this (design rule 3).
 *
 * @throws the driver's error, or `UnsealError`; attempts without a recorded outcome are found when their leases expire
 */
export async function drainListener(
  given: DrainDeps,
  serverId: ObjectId,
  options: DrainOptions,
): Promise<DrainResult> {
  const endsAt = performance.now() + options.budgetMs;
  for (;;) {
    const { result, again } = await drainOnce(given, serverId, { ...options, endsAt });
    if (!again || options.stop.aborted) return result;
    if (performance.now() > endsAt) return { kind: 'more' };
  }
}

/** `again`: more votes may be due, because a job arrived or the settings changed meanwhile. */
async function drainOnce(
  given: DrainDeps,
  serverId: ObjectId,
  options: DrainLimits,
): Promise<{ result: DrainResult; again: boolean }> {
  const kept = options.kept?.takeOver();
  // Facts of a kept lease are at most half a lease old.
  const facts = kept?.facts ?? readFacts(given, serverId);
  // If the lease is not taken, nothing awaits this promise: its rejection would end the process.
  facts.catch(() => undefined);
  const leased = kept ?? (await leaseListener(given, serverId, facts, options));
  if (!(leased instanceof LeasedListener)) return { result: leased, again: false };
  const deps = { ...given, log: leased.log };
  try {
    return await drainAndRelease(deps, leased, options);
  } catch (error) {
    await leased.release().catch(() => leased.releaseLater(endOf(options)));
    throw error;
  }
}

/** Aborted when the worker shuts down. */
function endOf({ stop, waitNoLonger }: DrainOptions): AbortSignal {
  return AbortSignal.any([stop, waitNoLonger]);
}

/** If there is nothing to drain, returns why. */
async function leaseListener(
  given: DrainDeps,
  serverId: ObjectId,
  facts: ServerFacts,
  options: DrainLimits,
): Promise<LeasedListener | DrainResult> {
  const owner = `${given.processId}:${new ObjectId().toHexString()}`;
  const asOf = given.clock.now();
  // If the process is suspended meanwhile, the lease seems older, never younger.
  const since = performance.now();
  const releaseLater = () => releaseWithRetries(given, serverId, owner, endOf(options));
  const listens = options.kept !== undefined;
  const listener = await takeLease(given, serverId, { owner, listens }).catch(async (error: unknown) => {
    // Perhaps only MongoDB's answer was lost: then this worker owns the lease.
    await releaseLater();
    throw error;
  });
  if (!listener) {
    await removeVotesWithoutListener(given, serverId, asOf);
    return { kind: 'gone' };
  }
  if ('busy' in listener) return { kind: 'busy', ...(listener.busy?.listens ? { listens: true } : {}) };
  if (listener.protocol === 'fetch') {
    await releaseLease(given, serverId, owner, NOTHING_LEARNT).catch(releaseLater);
    return { kind: 'fetches' };
  }
  const named = { serverId: serverId.toHexString(), listenerId: listener._id.toHexString() };
  const deps = { ...given, log: given.log.child(named) };
  const opened = await openOrExplain(deps, listener, options.waitNoLonger);
  return new LeasedListener(deps, { owner, since, facts }, listener, opened);
}

function readFacts({ batcher, servers, votes }: DrainDeps, serverId: ObjectId): ServerFacts {
  return Promise.all([
    batcher.load(serversOfDrains, servers, serverId),
    batcher.load(hasLostAttempts, votes, serverId),
  ]);
}

async function drainAndRelease(
  deps: DrainDeps,
  leased: LeasedListener,
  options: DrainLimits,
): Promise<{ result: DrainResult; again: boolean }> {
  const result = await drainLeased(deps, leased, options);
  if (result.kind === 'idle' && options.kept?.keep(leased)) return { result, again: false };
  const { called, changed } = await leased.release();
  // `renew` may have read a resume while the last attempts ended.
  const isResumed = result.kind === 'paused' && !leased.now.pause;
  const mayBeDue = result.kind === 'idle' || result.kind === 'unreachable' || isResumed;
  return { result, again: changed || (called && mayBeDue) };
}

async function drainLeased(
  deps: DrainDeps,
  leased: LeasedListener,
  options: DrainLimits,
): Promise<DrainResult> {
  const { log } = deps;
  const { serverId } = leased.now;
  const [server, hasLost] = await leased.facts;
  leased.facts = Promise.resolve([server, false]);
  for (const ended of hasLost ? await endLostAttempts(deps, serverId, leased.now) : []) {
    log.warn({ event: 'delivery.lost', voteId: ended.taken.vote._id.toString() });
    await onOutcome(deps, leased, ended);
  }
  if (!server || server.removedAt) {
    await removeWaitingVotes(deps, serverId, 'server-removed');
    return { kind: 'gone' };
  }
  deps.onBegin?.(server.name);
  const accountId = server.ownerId?.toHexString() ?? null;
  const result = await sendDueVotes(deps, leased, options, accountId);
  // If the lease is lost, its new owner detects the service. Otherwise it does not expire soon.
  if (await leased.renew()) await detectOnce(deps, leased.now, { accountId, stop: options.stop });
  return result.kind === 'tested-later' ? await untilNextTest(deps, server.name, leased.now) : result;
}

async function untilNextTest(
  { votes, clock }: DrainDeps,
  server: string,
  { serverId, breaker }: Listener,
): Promise<DrainResult> {
  const now = clock.now();
  return {
    kind: 'unreachable',
    server,
    waiting: await countWaiting(votes, serverId),
    nextTestAt: breaker.nextTestAt ?? after(now, SECOND),
    since: breaker.openSince ?? now,
    code: breaker.code ?? 'unreachable',
  };
}

/**
 * If the secret cannot be opened, the timeline of the first due vote shows it. The lease is then deliberately not
 * released, so that no worker tries again before it expires.
 */
async function openOrExplain(
  deps: DrainDeps,
  listener: Listener,
  waitNoLonger: AbortSignal,
): Promise<OpenedListener> {
  try {
    return deps.open(listener);
  } catch (error) {
    const test = listenerState(listener) === 'unreachable';
    const one = { most: 1, atOnce: 1 };
    const taken = listener.pause ? [] : await takeVotes(deps, listener, { test }, one);
    const ended = { outcome: ourFault(error), durationMs: 0, endedAt: Date.now() };
    await Promise.all(taken.map((vote) => recordWithRetries(deps, { taken: vote, ...ended }, waitNoLonger)));
    throw error;
  }
}
