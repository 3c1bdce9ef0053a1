import type { Collection, ObjectId } from 'mongodb';
import type { Listener } from '../../listeners/listener.ts';
import { hasTakenVotes } from '../../listeners/listener-state.ts';
import { type Outcome, type OutcomeCode, outcome, type Step } from '../../listeners/outcomes.ts';
import { updateLoader } from '../../platform/batching/write-loaders.ts';
import { REPLICATED } from '../../platform/mongo.ts';
import { printable } from '../../platform/printable.ts';
import type { Attempt, Vote } from '../../votes/vote.ts';
import { asAllowedNow } from '../drain/after-attempt.ts';
import { type Ended, recordOutcomes } from '../drain/record-outcomes.ts';
import type { FetchDeps } from './take-deliveries.ts';

/**
 * What a taker says about a vote.
 *
 * - `delivered`: the game server has it.
 * - `sent`: it was handed to a plugin that confirms nothing.
 * - `unknown`: it may have been handed over.
 * - `retry`: it was not handed over; it comes again by the schedule.
 * - `failed`: it can never be handed over.
 */
export const TAKER_OUTCOMES = ['delivered', 'sent', 'unknown', 'retry', 'failed'] as const;
export type TakerOutcome = (typeof TAKER_OUTCOMES)[number];

const MEANINGS: Record<TakerOutcome, [OutcomeCode, Step]> = {
  delivered: ['acknowledged', 'acknowledged'],
  sent: ['sent-not-confirmed', 'written'],
  unknown: ['fetch-unknown', 'written'],
  retry: ['fetch-retry', 'none'],
  failed: ['fetch-failed', 'none'],
};

/** The result of one vote. `lease` names the taking, as it was answered. */
export type TakerResult = {
  voteId: Vote['_id'];
  lease: string;
  outcome: TakerOutcome;
  reason?: string | undefined;
};

/**
 * Why a result was not recorded.
 *
 * - `lease-ended`: the vote may be with another taker. `delivered` and `sent` are recorded all the same.
 * - `unknown-vote`: the server has no such vote.
 * - `settled-differently`: this taking has another result already.
 */
export type SettleRefusal = 'lease-ended' | 'unknown-vote' | 'settled-differently';

export type Settled = {
  settled: Vote['_id'][];
  refused: { voteId: Vote['_id']; code: SettleRefusal }[];
  /** The attempts that ended with this call, for metrics. */
  ended: Ended[];
};

type SettleDeps = FetchDeps & { listeners: Collection<Listener> };

/** A vote, and whether the lease of its newest attempt has ended by mongod's clock. */
type Found = { vote: Vote; leaseEnded: boolean };

/**
 * Records what takers say about votes, as drains record outcomes of attempts. Each result is independent. A `delivered` or
 * `sent` counts however late it comes (docs/adr/0054-late-acknowledgements.md).
 *
 * @param results - each vote at most once
 * @throws the driver's error when MongoDB fails; then the same call may be repeated
 */
export async function settleDeliveries(
  deps: SettleDeps,
  serverId: ObjectId,
  results: TakerResult[],
): Promise<Settled> {
  const [found, listener] = await Promise.all([
    findVotes(deps, serverId, results),
    deps.listeners.findOne({ serverId }),
  ]);
  const judged = results.map((result) => ({ result, ...judge(deps, result, found, listener) }));
  const open = judged.flatMap(({ result, ended }) => (ended ? [{ result, ended }] : []));
  const recorded = await recordOutcomes(
    deps,
    open.map(({ ended }) => ended),
  );
  const counted = open.filter((_, index) => recorded[index]);
  const lost = open.filter((_, index) => !recorded[index]).map(({ result }) => result);
  // Another call or the sweep was first: what it recorded decides.
  const foundAgain = lost.length > 0 ? await findVotes(deps, serverId, lost) : found;
  const refusals = [
    ...judged.flatMap(({ result, refusal }) => (refusal ? [{ voteId: result.voteId, code: refusal }] : [])),
    ...lost.flatMap((result) => {
      const code = judge(deps, result, foundAgain, listener).refusal;
      return code ? [{ voteId: result.voteId, code }] : [];
    }),
  ];
  const ended = counted.map((one) => one.ended);
  if (listener) await noteDelivery(deps, listener, ended);
  const isRefused = new Set(refusals.map(({ voteId }) => voteId.toString()));
  const settled = results.map(({ voteId }) => voteId).filter((id) => !isRefused.has(id.toString()));
  return { settled, refused: refusals, ended };
}

async function findVotes(
  { votes }: SettleDeps,
  serverId: ObjectId,
  results: TakerResult[],
): Promise<Map<string, Found>> {
  const found = await votes
    .aggregate<Vote & { leaseEnded: boolean }>(
      [
        { $match: { serverId, _id: { $in: results.map(({ voteId }) => voteId) } } },
        { $set: { leaseEnded: { $lte: [{ $ifNull: ['$delivery.leaseUntil', new Date(0)] }, '$$NOW'] } } },
      ],
      { hint: '_id_' },
    )
    .toArray();
  return new Map(found.map(({ leaseEnded, ...vote }) => [vote._id.toString(), { vote, leaseEnded }]));
}

/** Decides about a result: record `ended`, or answer `refusal`. Neither if the same result is already recorded. */
function judge(
  { clock }: SettleDeps,
  { voteId, lease, outcome: said, reason }: TakerResult,
  found: Map<string, Found>,
  listener: Listener | null,
): { ended?: Ended; refusal?: SettleRefusal } {
  const known = found.get(voteId.toString());
  if (!known) return { refusal: 'unknown-vote' };
  const { vote, leaseEnded } = known;
  const { attempts } = vote.delivery;
  const attempt = attempts.find(({ id, protocol }) => protocol === 'fetch' && id.toString() === lease);
  if (!attempt) return { refusal: 'lease-ended' };
  const [code, step] = MEANINGS[said];
  if (attempt.code === code) return {};
  // If an earlier taker's late acknowledgement ended the delivery, the vote has no lease any more, and this attempt gets
  // its own outcome.
  const isLeaseOver = leaseEnded && vote.delivery.state === 'sending';
  const isLate = attempt.code === 'lease-ran-out' || (!attempt.code && isLeaseOver);
  const isArrival = said === 'delivered' || said === 'sent';
  if (isLate && !isArrival) return { refusal: 'lease-ended' };
  if (attempt.code && !isLate) return { refusal: 'settled-differently' };
  const words = printable(reason ?? '');
  return { ended: endedOf(vote, attempt, outcome(code, step, words || undefined), clock.now(), listener) };
}

function endedOf(
  vote: Vote,
  attempt: Attempt,
  outcome: Outcome,
  now: Date,
  listener: Listener | null,
): Ended {
  const endedAt = Math.max(now.getTime(), attempt.at.getTime());
  // The owner may have lowered the number of sendings since.
  const taken = listener ? asAllowedNow({ vote, attempt }, listener) : { vote, attempt };
  return { taken, outcome, durationMs: endedAt - attempt.at.getTime(), endedAt };
}

const changeListeners = updateLoader<Listener>(REPLICATED);

/** Stores when the listener last got a vote: one write for each call, and no breaker. */
async function noteDelivery(deps: SettleDeps, listener: Listener, ended: Ended[]): Promise<void> {
  const { revision, serverId, _id } = listener;
  // A vote that was taken before the settings changed shows nothing of the present ones.
  const last = ended.findLast(
    ({ outcome, taken }) => outcome.class === 'delivered' && taken.attempt.revision === revision,
  );
  if (!last) return;
  const lastDeliveredAt = deps.clock.now();
  const set = {
    lastDeliveredAt,
    lastDeliveryConfirmed: last.outcome.code === 'acknowledged',
    ...(hasTakenVotes(listener) ? {} : { acknowledgedAt: lastDeliveredAt }),
  };
  await deps.batcher.load(changeListeners, deps.listeners, {
    q: { _id, serverId, revision },
    u: { $set: set },
  });
}
