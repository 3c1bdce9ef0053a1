import type { WithId } from 'mongodb';
import { dayOf } from '../platform/periods/period-marks.ts';
import { pauseAt } from '../servers/listing-pause.ts';
import type { Server } from '../servers/server.ts';
import type { RankingDeps } from './deps.ts';
import { rankVotesByDay } from './evidence/rank-votes.ts';
import { RANKED } from './ranking-pipeline.ts';
import { rankedIds, readListingSummary } from './read-lists.ts';
import { rankedAt } from './recompute-ranks.ts';

export type DecidingFigure = 'pause' | 'votes' | 'uptime' | 'listed' | 'id';

export type RankExplanation = Awaited<ReturnType<typeof explainRank>>;
export type RankFigures = ReturnType<typeof figuresOf>;

/**
 * Of the last ranking. `votesCount` (the votes of 30 days) and `rankVotes` (what they weigh) are null before the
 * server's first ranking; `probedUptime` also if it is unknown.
 */
function figuresOf(server: WithId<Server>, now: Date) {
  const { _id, name, slug, rankPosition, ranked, listedAt } = server;
  return {
    isPaused: pauseAt(server, now) !== null,
    serverId: _id,
    name,
    slug,
    rank: rankPosition,
    votesCount: ranked?.votesCount ?? null,
    rankVotes: ranked?.rankVotes ?? ranked?.votesCount ?? null,
    probedUptime: ranked?.probedUptime ?? null,
    listedAt,
  };
}

function decidingFigure(one: RankFigures, other: RankFigures): DecidingFigure {
  if (one.isPaused !== other.isPaused) return 'pause';
  if (one.rankVotes !== other.rankVotes) return 'votes';
  if (one.probedUptime !== other.probedUptime) return 'uptime';
  return one.listedAt.getTime() === other.listedAt.getTime() ? 'id' : 'listed';
}

/** Null if there is none. Hidden servers share a rank, so the list is read. */
async function neighboursOf(deps: RankingDeps, rank: number) {
  const ids = await rankedIds(deps, [rank - 1, rank + 1]);
  const known = ids.filter((id) => id !== null);
  const found = await deps.servers.find({ _id: { $in: known }, ...RANKED }).toArray();
  return ids.map((id) => found.find(({ _id }) => id?.equals(_id)) ?? null);
}

/** Only `days` has the current counters, so its sums may differ from the stored figures. */
export async function explainRank(deps: RankingDeps, found: WithId<Server>) {
  const at = await rankedAt(deps);
  const [[above, below], { servers: ranked }, days] = await Promise.all([
    neighboursOf(deps, found.rankPosition),
    readListingSummary(deps),
    rankVotesByDay(deps, found._id, dayOf(at ?? deps.clock.now())),
  ]);
  const now = deps.clock.now();
  const server = figuresOf(found, now);
  const neighbour = (other: WithId<Server> | null | undefined) => {
    if (!other) return null;
    const figures = figuresOf(other, now);
    return { ...figures, by: decidingFigure(server, figures) };
  };
  return {
    server,
    /** Null before the first ranking. */
    rankedAt: at,
    // A server that was listed after the last ranking has a rank beyond it.
    serverCount: Math.max(ranked, found.rankPosition),
    /** The current votes, oldest first. */
    days,
    above: neighbour(above),
    below: neighbour(below),
  };
}
