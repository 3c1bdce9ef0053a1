import type { Collection, Filter } from 'mongodb';
import { MAX_SENDINGS, maxSendingsOf } from '../../listeners/delivery-limits.ts';
import type { Listener } from '../../listeners/listener.ts';
import { DURABLE } from '../../platform/mongo.ts';
import type { Delivery, Vote } from '../../votes/vote.ts';
import { DELIVERY_ENDED } from './after-attempt.ts';

type Limit = Pick<Listener, 'serverId' | 'maxSendings'>;

/** Another worker may have sent votes since they were read. */
export function sentLessOftenThan(most: number): Filter<Vote> {
  return { 'delivery.ambiguousEnds': { $lt: most } };
}

/** Since a person last had the vote sent. If the owner allows one sending, HTTP 5xx or 408 was it. */
function isSentOut({ ambiguousEnds, attempts, events, codes }: Delivery, most: number): boolean {
  if (ambiguousEnds >= most) return true;
  if (most > 1) return false;
  const resentAt = events.findLast(({ kind }) => kind === 'resent')?.at;
  const unavailableAt = attempts.findLast(({ code }) => code === 'http-unavailable')?.at;
  if (resentAt) return unavailableAt !== undefined && unavailableAt >= resentAt;
  // Once an attempt's details are removed, the counts show it, unless the vote was resent.
  return unavailableAt !== undefined || (codes?.['http-unavailable'] ?? 0) > 0;
}

/** The others become unconfirmed: the owner has lowered the number of sendings while an attempt was running. */
async function giveUpSentVotes(votes: Collection<Vote>, listener: Limit, found: Vote[]): Promise<Vote[]> {
  const most = maxSendingsOf(listener);
  const sentOut = found.filter(({ delivery }) => isSentOut(delivery, most));
  if (sentOut.length === 0) return found;
  await votes.updateMany(
    {
      serverId: listener.serverId,
      _id: { $in: sentOut.map(({ _id }) => _id) },
      'delivery.state': 'waiting',
    },
    { $set: { 'delivery.state': 'unconfirmed' }, $unset: DELIVERY_ENDED },
    { writeConcern: DURABLE },
  );
  return found.filter((vote) => !sentOut.includes(vote));
}

/** So many votes are read at once to give them up. */
const READ_AT_ONCE = 1_000;

/** The sweep finds the rest. */
const MOST_ROUNDS = 10;

/** If all that were read (`read`: in queue order) are given up, it reads again: others may be due behind them. */
export async function readAllowed(
  votes: Collection<Vote>,
  listener: Limit,
  most: number,
  read: (limit: number) => Promise<Vote[]>,
): Promise<Vote[]> {
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    const found = await read(round === 0 ? most : READ_AT_ONCE);
    const allowed = await giveUpSentVotes(votes, listener, found);
    if (allowed.length > 0 || found.length === 0) return allowed.slice(0, most);
  }
  return [];
}

/** Reads the waiting votes that may have arrived: call it when the settings change. Safe to run again. */
export async function giveUpAllSentVotes(votes: Collection<Vote>, listener: Limit): Promise<void> {
  const most = maxSendingsOf(listener);
  if (most === MAX_SENDINGS) return;
  const maybe = votes.find({
    serverId: listener.serverId,
    'delivery.state': 'waiting',
    $or: [{ 'delivery.ambiguousEnds': { $gte: most } }, { 'delivery.codes.http-unavailable': { $gt: 0 } }],
  });
  let some: Vote[] = [];
  for await (const vote of maybe) {
    some.push(vote);
    if (some.length < READ_AT_ONCE) continue;
    await giveUpSentVotes(votes, listener, some);
    some = [];
  }
  await giveUpSentVotes(votes, listener, some);
}
