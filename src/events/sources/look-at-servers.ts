import PQueue from 'p-queue';
import { countGoal } from '../../goals/count-goal.ts';
import { isTransientError } from '../../platform/transient-errors.ts';
import type { EventsDeps } from '../deps.ts';
import { announceRounds } from './announce-rounds.ts';
import { type SeenVotes, settledAt, storeCountedVotes } from './counted-votes.ts';
import { announceMilestones } from './milestones.ts';
import type { VoteWatch } from './vote-watch.ts';
import { readWatches, recordWatches } from './vote-watches.ts';
import type { WatchedServer } from './watched-servers.ts';

const SERVERS_AT_ONCE = 16;

export type Look = {
  now: Date;
  /** What this process remembers, by server. */
  seen: Map<string, SeenVotes>;
  stop: AbortSignal;
};

/**
 * Stores the events of these servers. `failed`: those that failed for a reason of their own, which is logged.
 *
 * @throws the first error that concerns all servers, or the reason of `stop`
 */
export async function lookAtServers(
  deps: EventsDeps,
  servers: Map<string, WatchedServer>,
  look: Look,
): Promise<{ events: number; failed: Set<string> }> {
  const watches = await readWatches(deps, servers, look.now);
  const newVotes = new Map<string, number>();
  const failed = await fairly(deps, look.stop, servers, (id, server) =>
    stepsOf(deps, server, watches.get(id), look, (votes) =>
      newVotes.set(id, (newVotes.get(id) ?? 0) + votes),
    ),
  );
  if ([...servers.values()].some(({ hasGoal }) => hasGoal)) await announceRounds(deps);
  const looked = [...watches].filter(([id]) => !failed.has(id));
  const passed = await announceMilestones(
    deps,
    looked
      .filter(([id]) => servers.get(id)?.wantsMilestones)
      .map(([id, { _id, milestone }]) => ({ serverId: _id, milestone, newVotes: newVotes.get(id) ?? 0 })),
  );
  await recordWatches(
    deps,
    looked.map(([id, { _id, until }]) => {
      const settled = settledAt(look.now);
      const milestone = passed.get(id);
      return {
        _id,
        until: settled > until ? settled : until,
        ...(milestone === undefined ? {} : { milestone }),
      };
    }),
  );
  return { events: [...newVotes.values()].reduce((sum, one) => sum + one, 0), failed };
}

async function* stepsOf(
  deps: EventsDeps,
  { serverId, hasGoal }: WatchedServer,
  watch: VoteWatch | undefined,
  { now, seen }: Look,
  onVotes: (votes: number) => void,
): AsyncGenerator<void> {
  if (watch) {
    const id = serverId.toHexString();
    const memory = seen.get(id) ?? { stored: new Map(), month: null };
    seen.set(id, memory);
    for await (const votes of storeCountedVotes(deps, serverId, { from: watch.until, now }, memory)) {
      onVotes(votes);
      yield;
    }
  }
  if (hasGoal) await countGoal(deps, serverId);
}

/** Some at once; a server goes behind the others after each of its steps. Returns those that failed. */
async function fairly(
  { log }: EventsDeps,
  stop: AbortSignal,
  servers: Map<string, WatchedServer>,
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
