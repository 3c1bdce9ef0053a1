import type { Collection, ObjectId, WithId } from 'mongodb';
import type { Clock } from '../clock.ts';
import { dayOf } from '../periods/period-marks.ts';
import type { WorkLease } from '../periods/work-lease-record.ts';
import type { Server } from '../servers/server.ts';
import type { VoteCounter } from '../votes/vote-counter.ts';
import { RANKED, rankingDays } from './ranking-pipeline.ts';
import { rankedAt } from './recompute-ranks.ts';

type Explaining = {
  servers: Collection<Server>;
  voteCounters: Collection<VoteCounter>;
  workLeases: Collection<WorkLease>;
  clock: Clock;
};

/** What the formula compares, as the ranking that stands found it. `votesCount` is null before the first one. */
export type RankFigures = {
  serverId: ObjectId;
  slug: string;
  place: number;
  votesCount: number | null;
  probedUptime: number | null;
  listedAt: Date;
};

/** By which figure two neighbours differ. */
export type Decider = 'votes' | 'uptime' | 'listed' | 'id';

export type RankExplanation = {
  server: RankFigures;
  /** When the ranking that stands was computed; null before the first. */
  rankedAt: Date | null;
  /** How many servers are listed now. */
  listed: number;
  /** The votes of each day that counts, as the counters have them now, oldest first. */
  days: { day: string; votes: number }[];
  above: (RankFigures & { by: Decider }) | null;
  below: (RankFigures & { by: Decider }) | null;
};

function figuresOf({ _id, slug, rankPosition, ranked, listedAt }: WithId<Server>): RankFigures {
  return {
    serverId: _id,
    slug,
    place: rankPosition,
    votesCount: ranked?.votesCount ?? null,
    probedUptime: ranked?.probedUptime ?? null,
    listedAt,
  };
}

function decider(one: RankFigures, other: RankFigures): Decider {
  if (one.votesCount !== other.votesCount) return 'votes';
  if (one.probedUptime !== other.probedUptime) return 'uptime';
  return one.listedAt.getTime() === other.listedAt.getTime() ? 'id' : 'listed';
}

/**
 * Why a listed server has its place: the figures that the ranking stored with it, and those of the servers next
 * to it. Only the votes by day are today's counters; they may have risen since.
 */
export async function explainRank(deps: Explaining, found: WithId<Server>): Promise<RankExplanation> {
  const { servers, voteCounters, clock } = deps;
  const at = await rankedAt(deps);
  const days = rankingDays(dayOf(at ?? clock.now()));
  const next = async (place: number) => servers.findOne({ rankPosition: place, ...RANKED });
  const [above, below, listed, counters] = await Promise.all([
    next(found.rankPosition - 1),
    next(found.rankPosition + 1),
    servers.countDocuments(RANKED),
    voteCounters.find({ serverId: found._id }).toArray(),
  ]);
  const counts = new Map(counters.map((counter) => [counter.month, counter.days]));
  const server = figuresOf(found);
  const neighbour = (other: WithId<Server> | null) => {
    if (!other) return null;
    const figures = figuresOf(other);
    return { ...figures, by: decider(server, figures) };
  };
  return {
    server,
    rankedAt: at,
    listed,
    days: days.map((day) => ({ day, votes: counts.get(day.slice(0, 7))?.[day.slice(8)] ?? 0 })),
    above: neighbour(above),
    below: neighbour(below),
  };
}
