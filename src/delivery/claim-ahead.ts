import type { Collection, Document } from 'mongodb';
import type { Lanes, Together } from '../batching/lanes.ts';
import { sendRepeatable, type UpdateStatement } from '../batching/write-together.ts';
import { DURABLE } from '../mongo.ts';
import { type Attempt, OPEN_WORK, type Vote } from '../votes/vote.ts';
import type { Claimed } from './after-end.ts';
import type { ClaimReason } from './attempt-cause.ts';
import {
  type Claiming,
  claimNextVote,
  dueVotes,
  IN_LINE,
  newAttempt,
  newAttemptId,
  type Recording,
  recordEnd,
} from './attempt-records.ts';
import { outcome } from './outcomes.ts';
import { mostSendings } from './schedule.ts';

/**
 * How many votes a claim takes, and how many of them are sent at once. Only such may be votes of which an attempt
 * was lost before, or whose first sending is the last: what waits behind them, claimed, when a process dies was never
 * sent. That must not make it `unconfirmed`, nor must processes that die one after the other over the same backlog.
 */
type ClaimSize = { most: number; atOnce: number };

/**
 * Claims of several listeners' votes in one durable command. Few: what other work asks of MongoDB meanwhile, the
 * insert of a vote that is just cast above all, waits for a share of it.
 */
const claims: Together<Collection<Vote>, UpdateStatement, true> = {
  most: 4,
  async ask(votes, statements) {
    const { errors } = await sendRepeatable(votes, statements, DURABLE);
    return statements.map((_, i) => errors.get(i) ?? true);
  },
};

/**
 * Takes the next votes in a listener's line, and records an attempt for each: one durable write
 * for all of them, before anything is sent (design rule 4). Waiting for the journal once a vote would bound a
 * listener's backlog to some hundred votes a second.
 *
 * @returns them in the order of the line; none when no vote is due, or none that may be claimed
 * @throws the driver's error when MongoDB fails; what may have been claimed is given back where that succeeds
 */
export async function claimVotes(
  recording: Recording & { lanes: Lanes },
  listener: Claiming,
  reason: ClaimReason,
  size: ClaimSize,
): Promise<Claimed[]> {
  const id = newAttemptId();
  try {
    const alone = size.most === 1 && size.atOnce > 0;
    if (!alone) return await claimTogether(recording, listener, reason, size, id);
    const claimed = await claimNextVote(recording, listener, reason, id);
    return claimed ? [claimed] : [];
  } catch (error) {
    await giveBackTaken(recording, listener, id).catch(() => undefined);
    throw error;
  }
}

async function claimTogether(
  recording: Recording & { lanes: Lanes },
  listener: Claiming,
  reason: ClaimReason,
  { most, atOnce }: ClaimSize,
  id: Attempt['id'],
): Promise<Claimed[]> {
  const { votes, clock, lanes } = recording;
  const { serverId } = listener;
  const now = clock.now();
  const due = dueVotes(listener, now, reason);
  const projection = { _id: 1, 'delivery.ambiguousEnds': 1, 'delivery.queuedAt': 1 };
  const inLine = await votes.find(due, { projection, sort: IN_LINE, limit: most }).toArray();
  const isSentOnce = mostSendings(listener) === 1;
  const held = inLine.findIndex(({ delivery }, index) => {
    return index >= atOnce && (isSentOnce || delivery.ambiguousEnds > 0);
  });
  const next = held === -1 ? inLine : inLine.slice(0, held);
  if (next.length === 0) return [];
  const ids = next.map(({ _id }) => _id);
  const { attempt, recorded } = newAttempt(recording, listener, reason, now, id);
  const place = {
    $exists: true,
    $gte: next.at(0)?.delivery.queuedAt,
    $lte: next.at(-1)?.delivery.queuedAt,
  };
  await lanes.ask(claims, votes, {
    q: { ...due, 'delivery.queuedAt': place, _id: { $in: ids } },
    u: recorded,
    multi: true,
    // In the order of the line: where MongoDB fails half-way, no later vote has an attempt that an earlier lacks.
    hint: OPEN_WORK,
  });
  // What left the line between the reading and the writing does not have its attempt.
  const own = { 'delivery.state': 'sending', 'delivery.attempts.id': id } as const;
  const taken = await votes.find({ serverId, _id: { $in: ids }, ...own }).toArray();
  const byId = new Map(taken.map((vote) => [vote._id.toString(), vote]));
  return ids.flatMap((_id) => {
    const vote = byId.get(_id.toString());
    return vote ? [{ vote, attempt }] : [];
  });
}

/**
 * After a claim whose end is unknown: some votes may have been claimed, and nothing was sent of any. Where this fails
 * too, their leases will run out.
 */
async function giveBackTaken(recording: Recording, listener: Claiming, id: Attempt['id']): Promise<void> {
  const own = { 'delivery.state': 'sending', 'delivery.attempts.id': id } as const;
  const taken = await recording.votes
    .find({ serverId: listener.serverId, ...own }, { sort: IN_LINE })
    .toArray();
  const claimed = taken.map((vote) => ({ vote, attempt: { id } }));
  await giveBack(recording, listener, claimed);
}

/**
 * Puts claimed votes of which nothing was sent back into their places in the line, as if they had never been claimed,
 * while the listener's lease is surely held. After that another worker may have begun with later votes: then the
 * attempts stay on record, as ones that were stopped before they sent anything. One whose own lease ran out meanwhile
 * stays as it is.
 */
export async function giveBack(
  recording: Recording,
  { serverId, lease }: Pick<Claiming, 'serverId' | 'lease'>,
  claimed: { vote: Pick<Vote, '_id'>; attempt: Pick<Attempt, 'id'> }[],
): Promise<void> {
  if (claimed.length === 0) return;
  const { votes, clock } = recording;
  const held = { $lt: ['$$NOW', lease?.until ?? new Date(0)] };
  // The last one first: cut short, this leaves no later vote with an attempt that an earlier lacks.
  const updates = claimed.toReversed().map(({ vote: { _id }, attempt: { id } }) => {
    const open = { $elemMatch: { id, code: { $exists: false } } };
    const filter = {
      serverId,
      _id,
      'delivery.state': 'sending',
      'delivery.attempts': open,
      $expr: held,
    } as const;
    return { updateOne: { filter, update: withoutAttempt(id, clock.now()) } };
  });
  const { modifiedCount } = await votes.bulkWrite(updates, { ordered: true, writeConcern: DURABLE });
  if (modifiedCount < claimed.length) await endUnsent(recording, serverId, claimed);
}

/** Ends those of the attempts that are still under way. */
async function endUnsent(
  recording: Recording,
  serverId: Vote['serverId'],
  claimed: { vote: Pick<Vote, '_id'>; attempt: Pick<Attempt, 'id'> }[],
): Promise<void> {
  const { votes, clock } = recording;
  const _id = { $in: claimed.map(({ vote }) => vote._id) };
  const ours = new Set(claimed.map(({ attempt }) => attempt.id.toString()));
  const left = await votes.find({ serverId, _id, 'delivery.state': 'sending' }).toArray();
  for (const vote of left) {
    const attempt = vote.delivery.attempts.at(-1);
    if (!attempt || !ours.has(attempt.id.toString())) continue;
    const durationMs = Math.max(0, clock.now().getTime() - attempt.at.getTime());
    await recordEnd(recording, { vote, attempt }, outcome('stopped-before-written', 'none'), durationMs);
  }
}

/** A vote as it was before an attempt was recorded, due at `now`. */
function withoutAttempt(id: Attempt['id'], now: Date): Document[] {
  const attempts = (cond: Document) => ({ $filter: { input: '$delivery.attempts', as: 'attempt', cond } });
  const [own, others] = [{ $eq: ['$$attempt.id', id] }, { $ne: ['$$attempt.id', id] }];
  // What started the attempt that never was starts the next one.
  const cause = { $getField: { field: 'wokenBy', input: { $first: attempts(own) } } };
  return [
    {
      $set: {
        'delivery.state': 'waiting',
        'delivery.nextAt': now,
        'delivery.dueBy': { $ifNull: [cause, '$$REMOVE'] },
        'delivery.attemptCount': { $subtract: ['$delivery.attemptCount', 1] },
        'delivery.attempts': attempts(others),
      },
    },
    { $unset: 'delivery.leaseUntil' },
  ];
}
