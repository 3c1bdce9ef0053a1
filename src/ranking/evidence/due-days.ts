import type { Document, ObjectId } from 'mongodb';
import { dueAggregates } from '../../history/due-aggregates.ts';
import { after } from '../../platform/clock.ts';
import { addDays, dayOf, markDone } from '../../platform/periods/period-marks.ts';
import { DAY_SETTLED_MS } from '../../votes/recount-votes.ts';
import type { RankingDeps } from '../deps.ts';
import { rankingDays } from '../ranking-pipeline.ts';
import { FULL_OF_NETWORK } from './weigh-day.ts';

/** The period mark whose day is the first one that is weighed. */
const WEIGH_VOTES = 'weigh-votes';

/** Null before the first ranking that weighs. */
export async function firstWeighedDay({ periodMarks }: RankingDeps): Promise<string | null> {
  const mark = await periodMarks.findOne({ work: WEIGH_VOTES }, { sort: { period: 1 } });
  return mark?.period ?? null;
}

/**
 * The first ranking sets the day: tomorrow, because processes of the previous version may still accept votes today; or
 * today if there are no votes yet.
 */
export async function startWeighing(deps: RankingDeps): Promise<string> {
  const started = await firstWeighedDay(deps);
  if (started) return started;
  const today = dayOf(deps.clock.now());
  const hasVotes = (await deps.voteCounters.findOne({}, { projection: { _id: 1 } })) !== null;
  const first = hasVotes ? addDays(today, 1) : today;
  await markDone(deps, WEIGH_VOTES, first);
  return first;
}

/** `due`: the days of the month that must be weighed. */
export type DueCounter = {
  serverId: ObjectId;
  month: string;
  reweighed?: number;
  due: { day: string; votes: number; isFinal: boolean }[];
};

/** If today has more votes than this, all in full: it is weighed again only after a growth by a twentieth. */
const OFTEN = 200;
const GROWTH = 1.05;

/** Up to this many votes of a day count in full, whatever their source. */
export const ALWAYS_FULL = FULL_OF_NETWORK;

/**
 * A day is due if its number of votes differs from that of the last weighing (but see `OFTEN`), and a finished day once
 * more after its statistics are computed. A decision about the allowance deletes the weights, so all days are due. A
 * day with few votes (`ALWAYS_FULL`) and no weight is not due.
 */
export async function eachDueCounter(
  deps: RankingDeps,
  first: string,
  work: (counter: DueCounter) => Promise<void>,
): Promise<void> {
  const now = deps.clock.now();
  const today = dayOf(now);
  const open = new Set(await dueAggregates(deps));
  const over = dayOf(after(now, -DAY_SETTLED_MS));
  const days = rankingDays(today).filter((day) => day >= first);
  for (const [month, ofMonth] of Map.groupBy(days, (day) => day.slice(0, 7))) {
    const dues = ofMonth.map((day) =>
      dueDay(day, { isFinal: day < over && !open.has(day), grows: day === today }),
    );
    const due = deps.voteCounters.aggregate<DueCounter>(
      [
        { $match: { month } },
        { $project: { _id: 0, serverId: 1, month: 1, reweighed: 1, due: dues } },
        { $set: { due: { $setDifference: ['$due', [null]] } } },
        { $match: { 'due.0': { $exists: true } } },
      ],
      { batchSize: 1_000 },
    );
    for await (const counter of due) await work(counter);
  }
}

/** Null if the day is not due. The conditions that hold for most days come first. */
function dueDay(day: string, { isFinal, grows }: { isFinal: boolean; grows: boolean }): Document {
  const [votes, weighed] = [`$days.${day.slice(8)}`, `$weighed.${day.slice(8)}`];
  // The weight of a finished day whose votes all count in full is their number.
  const isClean = { $eq: [votes, weighed] };
  const isSame = { $eq: [votes, `${weighed}.of`] };
  // Votes cast since the last weighing count in full until the next one, so it may be delayed only for such a day.
  const hardlyGrew = {
    $and: [
      { $gt: [votes, OFTEN] },
      { $eq: [{ $multiply: [10, `${weighed}.of`] }, `${weighed}.tenths`] },
      { $gte: [votes, `${weighed}.of`] },
      { $lt: [votes, { $multiply: [GROWTH, `${weighed}.of`] }] },
    ],
  };
  const unchanged = isFinal
    ? [{ $and: [isSame, { $eq: [`${weighed}.isFinal`, true] }] }]
    : [isSame, ...(grows ? [hardlyGrew] : [])];
  const isFew = { $and: [{ $lte: [{ $ifNull: [votes, 0] }, ALWAYS_FULL] }, { $lte: [weighed, null] }] };
  return {
    $cond: [
      { $or: [isClean, isFew, ...unchanged] },
      null,
      { day: { $literal: day }, votes, isFinal: { $literal: isFinal } },
    ],
  };
}
