import type { ObjectId } from 'mongodb';
import type { Listener } from '../../listeners/listener.ts';
import { hasTakenVotes } from '../../listeners/listener-state.ts';
import { type OutcomeCode, outcome, type Step } from '../../listeners/outcomes.ts';
import { printable } from '../../platform/printable.ts';
import type { Vote } from '../../votes/vote.ts';
import type { DeliveryDeps } from '../deps.ts';
import { asAllowedNow } from '../drain/after-attempt.ts';
import { changeListeners } from '../drain/leased-listener.ts';
import { type Ended, endedAt, recordOutcomes } from '../drain/record-outcomes.ts';

/**
 * What a taker reports about a vote.
 *
 * - `delivered`: the game server has the vote.
 * - `sent`: the vote was handed to a plugin that confirms nothing.
 * - `unknown`: the vote may have been handed over.
 * - `retry`: the vote was not handed over; it can be taken again after the next delay of `DELIVERY_SCHEDULE`.
 * - `failed`: the vote can never be handed over.
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

/** `lease`: the id that the take returned with the vote; it is the id of the attempt. */
export type TakerResult = {
  voteId: Vote['_id'];
  lease: string;
  outcome: TakerOutcome;
  reason?: string | undefined;
};

/** Why a result was not recorded. `lease-ended`: also if the lease is not on record. */
export type SettleRefusal = 'lease-ended' | 'unknown-vote' | 'settled-differently';

export type Settled = {
  settled: Vote['_id'][];
  refused: { voteId: Vote['_id']; code: SettleRefusal }[];
  /** The attempts that ended, for metrics. */
  ended: Ended[];
  /** Whether the server's listener fetches. */
  fetching: boolean;
  paused: boolean;
};

/** `leaseEnded`: by mongod's clock. */
type Found = { vote: Vote; leaseEnded: boolean };

/**
 * Records what a taker reports; a refused result does not affect the others. `delivered` and `sent` are recorded
 * however late they come (docs/adr/0054-late-acknowledgements.md). The same call may be repeated.
 */
export async function settleDeliveries(
  deps: DeliveryDeps,
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
  // If another call or the sweep recorded an outcome first, that outcome decides.
  const foundAgain = lost.length > 0 ? await findVotes(deps, serverId, lost) : found;
  const judgedAgain = lost.map((result) => ({ result, ...judge(deps, result, foundAgain, listener) }));
  const refused = [...judged, ...judgedAgain].flatMap(({ result: { voteId }, refusal }) =>
    refusal ? [{ voteId, code: refusal }] : [],
  );
  const ended = counted.map((one) => one.ended);
  if (listener) await noteDelivery(deps, listener, ended);
  const isRefused = new Set(refused.map(({ voteId }) => voteId.toString()));
  const settled = results.map(({ voteId }) => voteId).filter((id) => !isRefused.has(id.toString()));
  const fetching = listener?.protocol === 'fetch';
  return { settled, refused, ended, fetching, paused: Boolean(listener?.pause) };
}

async function findVotes({ votes }: DeliveryDeps, serverId: ObjectId, results: TakerResult[]) {
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

/** Decides whether a result is recorded (`ended`) or refused; neither if the same result is recorded already. */
function judge(
  { clock }: DeliveryDeps,
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
  // If an earlier taker's late acknowledgement ended the delivery, the vote has no lease any more: not late.
  const isLeaseOver = leaseEnded && vote.delivery.state === 'sending';
  const isLate = attempt.code === 'lease-ran-out' || (!attempt.code && isLeaseOver);
  const isArrival = said === 'delivered' || said === 'sent';
  if (isLate && !isArrival) return { refusal: 'lease-ended' };
  if (attempt.code && !isLate) return { refusal: 'settled-differently' };
  const words = printable(reason ?? '');
  const taken = listener ? asAllowedNow({ vote, attempt }, listener) : { vote, attempt };
  return { ended: endedAt(taken, outcome(code, step, words || undefined), clock.now()) };
}

/** One write for all votes of a call. */
async function noteDelivery(deps: DeliveryDeps, listener: Listener, ended: Ended[]): Promise<void> {
  const { revision, serverId, _id } = listener;
  // A vote that was taken before the settings changed does not show whether the current ones work.
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
  const statement = { q: { _id, serverId, revision }, u: { $set: set } };
  await deps.batcher.load(changeListeners, deps.listeners, statement);
}
