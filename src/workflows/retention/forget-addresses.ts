import type { Collection, Document, Filter, ObjectId } from 'mongodb';
import { monthsBefore } from '../../platform/periods/period-marks.ts';
import type { WorkflowsDeps } from '../deps.ts';

const REMOVED_ADDRESS = '(removed)';

/** Other values of `by` are `cli`, `automatic` and the like. */
const ADDRESS = /^[^\s@]+@[^\s@]+$/;

const BATCH = 500;

/** Those that are `KEEP_ADDRESSES_MONTHS` old on the UTC `day`. Safe to run again. @throws the signal's reason */
export async function forgetAddresses(
  deps: WorkflowsDeps,
  day: string,
  { signal }: { signal?: AbortSignal } = {},
): Promise<number> {
  const months = deps.config.KEEP_ADDRESSES_MONTHS;
  if (months === 0) return 0;
  const before = { $lt: monthsBefore(day, months) };
  const { auditLog, reviews, voteExclusions, blocks, servers } = deps;
  const hasAddress = { $or: [{ by: ADDRESS }, { $expr: isIn('$details') }] };
  const replaceIn = <T extends { _id: ObjectId }>(collection: Collection<T>, at: string, by: string) =>
    changeAll(
      collection,
      { [at]: before, [by]: ADDRESS } as Filter<T>,
      [{ $set: { [by]: REMOVED_ADDRESS } }],
      signal,
    );
  return (
    (await changeAll(
      auditLog,
      { at: before, ...hasAddress },
      [{ $set: { by: without('$by'), details: withoutIn('$details') } }],
      signal,
    )) +
    (await replaceIn(reviews, 'moderatedAt', 'moderatedBy')) +
    (await replaceIn(reviews, 'answer.at', 'answer.by')) +
    (await replaceIn(voteExclusions, 'at', 'by')) +
    (await replaceIn(voteExclusions, 'undone.at', 'undone.by')) +
    (await replaceIn(blocks, 'at', 'by')) +
    (await replaceIn(blocks, 'lifted.at', 'lifted.by')) +
    (await changeAll(
      servers,
      { removedAt: before, $or: REMOVED_LEFTOVERS.map((field) => ({ [field]: { $exists: true } })) },
      [{ $unset: REMOVED_LEFTOVERS }],
      signal,
    ))
  );
}

/** `ownerId` stays: once the account is deleted, it identifies nobody. */
const REMOVED_LEFTOVERS = ['ownerEmail', 'invitations', 'members'];

async function changeAll<T extends { _id: ObjectId }>(
  collection: Collection<T>,
  filter: Filter<T>,
  update: Document[],
  signal: AbortSignal | undefined,
): Promise<number> {
  let changed = 0;
  let ids: ObjectId[] = [];
  const flush = async () => {
    signal?.throwIfAborted();
    const some = { _id: { $in: ids } } as Filter<T>;
    changed += (await collection.updateMany(some, update)).modifiedCount;
    ids = [];
  };
  for await (const { _id } of collection.find<{ _id: ObjectId }>(filter, { projection: { _id: 1 } })) {
    if (ids.push(_id) === BATCH) await flush();
  }
  if (ids.length > 0) await flush();
  return changed;
}

/** `$cond` evaluates one branch only, so `$regexMatch`, which fails for other types, gets only strings. */
function isAddress(value: string): Document {
  const matches = { $regexMatch: { input: value, regex: ADDRESS } };
  return { $cond: [{ $eq: [{ $type: value }, 'string'] }, matches, false] };
}

function without(value: string): Document {
  return { $cond: [isAddress(value), REMOVED_ADDRESS, value] };
}

function isIn(object: string): Document {
  return { $anyElementTrue: { $map: { input: { $objectToArray: object }, in: isAddress('$$this.v') } } };
}

function withoutIn(object: string): Document {
  const fields = {
    $map: { input: { $objectToArray: object }, in: { k: '$$this.k', v: without('$$this.v') } },
  };
  return { $arrayToObject: fields };
}
