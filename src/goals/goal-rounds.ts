import { ObjectId } from 'mongodb';
import { DURABLE, isDuplicateKey } from '../platform/mongo.ts';
import type { GoalsDeps } from './deps.ts';
import type { GoalRound, VoteGoal } from './goal.ts';
import type { CountedSpan } from './goal-span.ts';

type Named = Pick<GoalRound, 'round' | 'votes'>;

/** Stored together, in the order of their numbers, so that a crash leaves none out. */
const ROUNDS_AT_ONCE = 1_000;

/** Rounds that are stored already do not change. `isSilent`: the new ones get no event. */
export async function storeRounds(
  deps: GoalsDeps,
  goal: VoteGoal,
  spans: CountedSpan[],
  isSilent: boolean,
): Promise<void> {
  let batch: Named[] = [];
  for (const named of namedRounds(goal, spans)) {
    batch.push(named);
    if (batch.length < ROUNDS_AT_ONCE) continue;
    await storeAbsent(deps, goal, batch, isSilent);
    batch = [];
  }
  await storeAbsent(deps, goal, batch, isSilent);
}

function* namedRounds({ target, reached }: VoteGoal, spans: CountedSpan[]): Generator<Named> {
  for (const { day, votes } of spans) {
    if (day !== null) {
      if (votes >= target) yield { round: day, votes };
      continue;
    }
    for (let round = reached + 1; round * target <= votes; round += 1) yield { round: String(round), votes };
  }
}

async function storeAbsent(
  deps: GoalsDeps,
  { goalId, serverId, target, period, text }: VoteGoal,
  batch: Named[],
  isSilent: boolean,
): Promise<void> {
  const { goalRounds, clock } = deps;
  const at = clock.now();
  const of = { goalId, serverId, target, period, ...(text === undefined ? {} : { text }), at };
  let absent = batch;
  while (absent.length > 0) {
    const named = { goalId, round: { $in: absent.map(({ round }) => round) } };
    const stored = new Set(await goalRounds.distinct('round', named));
    absent = absent.filter(({ round }) => !stored.has(round));
    const rounds = absent.map((one) => ({
      _id: new ObjectId(),
      ...of,
      ...one,
      ...(isSilent ? {} : { isUnannounced: true }),
    }));
    if (rounds.length === 0) return;
    try {
      await goalRounds.insertMany(rounds, { writeConcern: DURABLE });
      return;
    } catch (error) {
      // Another look has just stored one of them: the next try stores the rest.
      if (!isDuplicateKey(error)) throw error;
    }
  }
}

/** Counted, because a process may have died after it stored rounds. */
export async function reachedRounds(
  { goalRounds }: GoalsDeps,
  { goalId, serverId, reached: known }: VoteGoal,
): Promise<Partial<Pick<VoteGoal, 'reached' | 'reachedAt'>>> {
  const reached = await goalRounds.countDocuments({ goalId });
  if (reached === known) return {};
  const newest = await goalRounds.findOne({ serverId, goalId }, { sort: { at: -1 }, projection: { at: 1 } });
  return { reached, reachedAt: newest?.at ?? null };
}

/** Rounds whose event is not stored yet, oldest first: at most `ROUNDS_AT_ONCE`. */
export function unannouncedRounds({ goalRounds }: Pick<GoalsDeps, 'goalRounds'>): Promise<GoalRound[]> {
  return goalRounds.find({ isUnannounced: true }, { sort: { at: 1 }, limit: ROUNDS_AT_ONCE }).toArray();
}

/** After the events of these rounds are stored. If the process dies before: they are stored again, under the same ids. */
export async function markAnnounced(
  { goalRounds }: Pick<GoalsDeps, 'goalRounds'>,
  rounds: Pick<GoalRound, '_id'>[],
): Promise<void> {
  const ids = rounds.map(({ _id }) => _id);
  await goalRounds.updateMany({ _id: { $in: ids } }, { $unset: { isUnannounced: '' } });
}

/** Newest first, those of earlier goals included. */
export function lastRounds(
  { goalRounds }: Pick<GoalsDeps, 'goalRounds'>,
  serverId: ObjectId,
  limit: number,
): Promise<GoalRound[]> {
  return goalRounds.find({ serverId }, { sort: { at: -1, _id: -1 }, limit }).toArray();
}
