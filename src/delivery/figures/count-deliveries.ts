import { type Collection, type Document, ObjectId } from 'mongodb';
import { OUTCOMES, type OutcomeCode } from '../../listeners/outcomes.ts';
import { after, DAY } from '../../platform/clock.ts';
import { startOfDay } from '../../platform/periods/period-marks.ts';
import { ARRIVAL, type Arrival } from '../../votes/arrival.ts';
import { serverIdSlices } from '../../votes/server-id-slices.ts';
import type { DeliveryState, Vote } from '../../votes/vote.ts';
import type { DeliveryDeps } from '../deps.ts';
import { addTimes, bucketOf } from './arrival-times.ts';
import { type DeliverySums, FIGURE_DAYS } from './delivery-day.ts';
import { addCauses, addDeliveries, noDeliveries } from './delivery-sums.ts';

/**
 * Counts the votes of a UTC day (`2026-11-21`) for each server that was ever listed, stores the sums and returns those
 * of all. A repeated run replaces what was stored (design rule 6).
 *
 * @param throwIfLost - called before each write; throws if another run may be counting the day now
 */
export async function countDeliveries(
  deps: DeliveryDeps,
  day: string,
  { throwIfLost }: { throwIfLost: () => void },
): Promise<DeliverySums> {
  const total = noDeliveries();
  for await (const ids of serverIdSlices(deps.servers)) {
    const counted = await countSlice(deps.votes, ids, day);
    throwIfLost();
    await store(deps, ids, day, counted);
    for (const sums of counted.values()) addDeliveries(total, sums);
  }
  return total;
}

type Group = {
  _id: {
    serverId: ObjectId;
    source: 'page' | 'api';
    state: DeliveryState;
    arrival: Arrival;
    mark: 'counts' | 'excluded' | 'held';
    bucket?: number | null;
    codes?: Partial<Record<OutcomeCode, number>> | null;
  };
  votes: number;
};

async function countSlice(votes: Collection<Vote>, serverIds: ObjectId[], day: string) {
  const from = startOfDay(day);
  const match = {
    serverId: { $in: serverIds },
    votedAt: { $gte: from, $lt: after(from, DAY) },
    seq: { $gt: 0 },
  };
  const pipeline = [{ $match: match }, { $group: { _id: GROUPED, votes: { $sum: 1 } } }];
  const groups = votes.aggregate<Group>(pipeline, { hint: 'serverId_1_votedAt_1' });
  const counted = new Map<string, DeliverySums>();
  for await (const group of groups) {
    const serverId = group._id.serverId.toHexString();
    const sums = counted.get(serverId) ?? noDeliveries();
    addGroup(sums, group);
    counted.set(serverId, sums);
  }
  return counted;
}

/** Resent by hand, or released from a quarantine: the time is not counted. */
const WAITED_FOR_A_PERSON = {
  $gt: [{ $size: { $setIntersection: ['$delivery.events.kind', ['resent', 'released']] } }, 0],
};

const GROUPED: Document = {
  serverId: '$serverId',
  source: { $cond: [{ $eq: ['$source', 'web'] }, 'page', 'api'] },
  state: '$delivery.state',
  arrival: ARRIVAL,
  mark: {
    $cond: [
      { $gt: ['$quarantinedAt', null] },
      'held',
      { $cond: [{ $gt: ['$excludedAt', null] }, 'excluded', 'counts'] },
    ],
  },
  bucket: {
    $cond: [
      { $and: [{ $gt: ['$delivery.deliveredAt', null] }, { $not: [WAITED_FOR_A_PERSON] }] },
      bucketOf({ $subtract: ['$delivery.deliveredAt', '$votedAt'] }),
      null,
    ],
  },
  codes: '$delivery.codes',
};

const COUNTED_AS = {
  none: 'notForwarded',
  waiting: 'waiting',
  sending: 'waiting',
  delivered: 'delivered',
  unconfirmed: 'unconfirmed',
  failed: 'failed',
} as const satisfies Record<DeliveryState, keyof DeliverySums>;

type Counted = (typeof COUNTED_AS)[DeliveryState];

/** What arrived counts as delivered, also while it is sent again and if that fails. */
function countedAs({ state, arrival }: Group['_id']): Counted {
  if (arrival === 'arrived') return 'delivered';
  return state === 'failed' && arrival === 'may-have-arrived' ? 'unconfirmed' : COUNTED_AS[state];
}

function addGroup(sums: DeliverySums, { _id, votes }: Group): void {
  const { source, state, mark, bucket, codes } = _id;
  if (mark === 'counts') sums[source] += votes;
  else sums.excluded += votes;
  if (mark === 'held') sums.held += votes;
  sums[countedAs(_id)] += votes;
  if (state === 'delivered' && typeof bucket === 'number') addTimes(sums.times, { [bucket]: votes });
  addCauses(sums.causes, failuresIn(codes ?? {}), votes);
}

/** Class `none` is left out: Tallyport failed, stopped or reached a limit. */
function failuresIn(codes: DeliverySums['causes']): DeliverySums['causes'] {
  const failures = Object.entries(codes).filter(([code]) => {
    const kind = OUTCOMES[code as OutcomeCode]?.class;
    return kind !== 'delivered' && kind !== 'none';
  });
  return Object.fromEntries(failures);
}

/** If a server's votes of the day are gone, its sums are removed. */
async function store(
  { deliveryDays, clock }: DeliveryDeps,
  serverIds: ObjectId[],
  day: string,
  counted: Map<string, DeliverySums>,
): Promise<void> {
  const countedAt = clock.now();
  const forgetAt = after(startOfDay(day), FIGURE_DAYS * DAY);
  const replacements = [...counted].map(([id, sums]) => ({
    updateOne: {
      filter: { serverId: new ObjectId(id), day },
      update: { $set: { ...sums, countedAt, forgetAt }, $setOnInsert: { _id: new ObjectId() } },
      upsert: true,
    },
  }));
  if (replacements.length > 0) await deliveryDays.bulkWrite(replacements, { ordered: false });
  const without = serverIds.filter((id) => !counted.has(id.toHexString()));
  if (without.length > 0) await deliveryDays.deleteMany({ serverId: { $in: without }, day });
}
