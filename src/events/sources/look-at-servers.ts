import PQueue from 'p-queue';
import { countGoal } from '../../goals/count-goal.ts';
import { after } from '../../platform/clock.ts';
import { isTransientError } from '../../platform/transient-errors.ts';
import { settledAt } from '../../votes/cast/insert-vote.ts';
import { sum } from '../../votes/vote-counts.ts';
import type { EventsDeps } from '../deps.ts';
import { announceRounds } from './announce-rounds.ts';
import { catchUp, LONG_AGO_MS, seenIn, storeNewVotes, type VoteMemory } from './counted-votes.ts';
import { announceMilestones } from './milestones.ts';
import type { VoteWatch } from './vote-watch.ts';
import { readWatches, recordWatches } from './vote-watches.ts';
import type { WatchedServer } from './watched-servers.ts';

const SERVERS_AT_ONCE = 16;
/** Servers of one query. */
const SLICE = 200;

type Servers = Map<string, WatchedServer>;

/** Of this process: when it began, which servers it has looked at, and which failed. */
export type LastLook = { at: Date; known: ReadonlySet<string>; failed: ReadonlySet<string> };

type Look = {
  now: Date;
  memory: VoteMemory;
  stop: AbortSignal;
  last: LastLook | null;
  /** Goals and milestones are counted also without new votes, because the counters are repaired. */
  isAll: boolean;
};

/**
 * Stores the events of these servers. `failed`: those that failed for a reason of their own, which is logged.
 *
 * @throws the first error that concerns all servers, or the reason of `stop`
 */
export async function lookAtServers(
  deps: EventsDeps,
  servers: Servers,
  look: Look,
): Promise<{ events: number; failed: Set<string> }> {
  const newVotes = new Map<string, number>();
  // The last of these become settled: a goal's stored count then has them.
  const unsettled = new Set([...look.memory].filter(([, { votes }]) => votes.size > 0).map(([id]) => id));
  const isKnown = (id: string) => look.last?.known.has(id) === true;
  const watches = await readWatches(
    deps,
    ofThose(servers, (id) => look.isAll || !isKnown(id)),
    look.now,
  );
  const alone = await lookAtSlices(deps, servers, look, { isKnown, watches, newVotes });
  const isDue = (id: string) => look.isAll || alone.has(id) || newVotes.has(id);
  const counted = ofThose(
    servers,
    (id, { hasGoal, isGoalDue }) => hasGoal && (isGoalDue || isDue(id) || unsettled.has(id)),
  );
  const unread = ofThose(servers, (id) => isDue(id) && !watches.has(id));
  for (const [id, watch] of await readWatches(deps, unread, look.now)) watches.set(id, watch);
  const failed = await fairly(deps, look.stop, new Map([...alone, ...counted]), async function* (id, server) {
    const watch = alone.has(id) ? watches.get(id) : undefined;
    const range = watch && { from: watch.until, now: look.now };
    for await (const votes of range ? catchUp(deps, server.serverId, range, seenIn(look.memory, id)) : []) {
      newVotes.set(id, (newVotes.get(id) ?? 0) + votes);
      yield;
    }
    if (counted.has(id) && !(await countGoal(deps, server.serverId))) throw new Error('the goal changed');
  });
  await announceRounds(deps);
  for (const id of failed) watches.delete(id);
  await recordLook(deps, servers, watches, newVotes, settledAt(look.now));
  return { events: sum(newVotes.values()), failed };
}

/** After the events of votes: those of milestones, and how far each server was read. */
async function recordLook(
  deps: EventsDeps,
  servers: Servers,
  watches: Map<string, VoteWatch>,
  newVotes: Map<string, number>,
  settled: Date,
): Promise<void> {
  const watching = [...watches].flatMap(([id, { _id, milestone }]) =>
    servers.get(id)?.wantsMilestones ? [{ serverId: _id, milestone, newVotes: newVotes.get(id) ?? 0 }] : [],
  );
  const passed = await announceMilestones(deps, watching);
  await recordWatches(
    deps,
    [...watches].map(([id, { _id, until }]) => {
      const milestone = passed.get(id);
      const read = { _id, until: settled > until ? settled : until };
      return milestone === undefined ? read : { ...read, milestone };
    }),
  );
}

function ofThose(servers: Servers, isMeant: (id: string, server: WatchedServer) => boolean): Servers {
  return new Map([...servers].filter(([id, server]) => isMeant(id, server)));
}

type Together = {
  isKnown: (id: string) => boolean;
  watches: Map<string, VoteWatch>;
  newVotes: Map<string, number>;
};

/**
 * Many together: those that this process knows from its last look on, others if they need not go far back. Returns the
 * rest, and those of a query that failed.
 */
async function lookAtSlices(
  deps: EventsDeps,
  servers: Servers,
  { now, memory, stop, last }: Look,
  { isKnown, watches, newVotes }: Together,
): Promise<Servers> {
  const longAgo = after(now, -LONG_AGO_MS);
  const fromOf = (id: string) => (last?.known.has(id) ? settledAt(last.at) : watches.get(id)?.until);
  const isRecent = (id: string) => !last?.failed.has(id) && (fromOf(id) ?? longAgo) > longAgo;
  const alone = ofThose(servers, (id) => !isRecent(id));
  for (const some of [ofThose(servers, isKnown), ofThose(servers, (id) => !isKnown(id))]) {
    const together = [...some].filter(([id]) => !alone.has(id));
    for (let start = 0; start < together.length; start += SLICE) {
      stop.throwIfAborted();
      const slice = new Map(together.slice(start, start + SLICE));
      const from = new Date(Math.min(...[...slice.keys()].map((id) => (fromOf(id) ?? now).getTime())));
      try {
        const found = await storeNewVotes(deps, slice, { from, now }, memory);
        for (const [id, votes] of found) newVotes.set(id, votes);
      } catch (error) {
        if (isTransientError(error)) throw error;
        deps.log.warn({ event: 'events.source_failed', servers: slice.size, reason: String(error) });
        for (const [id, server] of slice) alone.set(id, server);
      }
    }
  }
  return alone;
}

/** Some at once; a server goes behind the others after each of its steps. Returns those that failed. */
async function fairly(
  { log }: EventsDeps,
  stop: AbortSignal,
  servers: Servers,
  stepsOf: (id: string, server: WatchedServer) => AsyncGenerator<void>,
): Promise<Set<string>> {
  const failed = new Set<string>();
  const queue = new PQueue({ concurrency: SERVERS_AT_ONCE });
  let transient: unknown;
  const add = (id: string, steps: AsyncGenerator<void>) =>
    void queue.add(async () => {
      try {
        stop.throwIfAborted();
        if (!(await steps.next()).done) add(id, steps);
      } catch (error) {
        failed.add(id);
        if (isTransientError(error) || stop.aborted) {
          transient ??= error;
          queue.clear();
          return;
        }
        log.warn({ event: 'events.source_failed', serverId: id, reason: String(error) });
      }
    });
  for (const [id, server] of servers) add(id, stepsOf(id, server));
  await queue.onIdle();
  if (transient) throw transient;
  return failed;
}
