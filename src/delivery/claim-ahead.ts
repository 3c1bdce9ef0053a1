import type { Document } from 'mongodb';
import { DURABLE } from '../mongo.ts';
import type { Attempt, Vote } from '../votes/vote.ts';
import type { Claimed } from './after-end.ts';
import type { ClaimReason } from './attempt-cause.ts';
import {
  type Claiming,
  claimNextVote,
  dueVotes,
  IN_LINE,
  newAttempt,
  type Recording,
} from './attempt-records.ts';

/**
 * How many votes a claim takes, and how many of them are sent at once. Only such may be votes of which an attempt
 * was lost before: what waits behind them, claimed, when a process dies was never sent, and processes that die one
 * after the other over the same backlog must not make it `unconfirmed`.
 */
export type ClaimSize = { most: number; atOnce: number };

/**
 * Takes the next votes in a listener's line, and records an attempt for each: one durable write
 * for all of them, before anything is sent (design rule 4). Waiting for the journal once a vote would bound a
 * listener's backlog to some hundred votes a second.
 *
 * @returns them in the order of the line; none when no vote is due, or none that may be claimed
 * @throws the driver's error when MongoDB fails; what may have been claimed is given back where that succeeds
 */
export async function claimVotes(
  recording: Recording,
  listener: Claiming,
  reason: ClaimReason,
  { most, atOnce }: ClaimSize,
): Promise<Claimed[]> {
  if (most === 1 && atOnce > 0) {
    const claimed = await claimNextVote(recording, listener, reason);
    return claimed ? [claimed] : [];
  }
  const { votes, clock } = recording;
  const { serverId } = listener;
  const now = clock.now();
  const due = dueVotes(serverId, now, reason);
  const projection = { _id: 1, 'delivery.ambiguousEnds': 1 };
  const inLine = await votes.find(due, { projection, sort: IN_LINE, limit: most }).toArray();
  const held = inLine.findIndex(({ delivery }, index) => delivery.ambiguousEnds > 0 && index >= atOnce);
  const next = held === -1 ? inLine : inLine.slice(0, held);
  if (next.length === 0) return [];
  const begun = next.map(({ _id }) => ({ _id, ...newAttempt(recording, listener, reason, now) }));
  try {
    await votes.bulkWrite(
      begun.map(({ _id, recorded }) => ({ updateOne: { filter: { ...due, _id }, update: recorded } })),
      // In the order of the line: where MongoDB fails half-way, no later vote has an attempt that an earlier lacks.
      { ordered: true, writeConcern: DURABLE },
    );
    // What left the line between the reading and the writing does not have its attempt.
    const taken = await votes
      .find({
        serverId,
        _id: { $in: begun.map(({ _id }) => _id) },
        'delivery.state': 'sending',
        'delivery.attempts.id': { $in: begun.map(({ attempt }) => attempt.id) },
      })
      .toArray();
    const byId = new Map(taken.map((vote) => [vote._id.toString(), vote]));
    return begun.flatMap(({ _id, attempt }) => {
      const vote = byId.get(_id.toString());
      return vote ? [{ vote, attempt }] : [];
    });
  } catch (error) {
    // Some may have been claimed; nothing was sent of any. Where this fails too, their lease will run out.
    const claimed = begun.map(({ _id, attempt }) => ({ vote: { _id, serverId }, attempt }));
    await giveBack(recording, claimed).catch(() => undefined);
    throw error;
  }
}

/**
 * Puts claimed votes of which nothing was sent back into their places in the line, as if they had never been
 * claimed. One whose lease ran out meanwhile stays as it is.
 */
export async function giveBack(
  { votes, clock }: Pick<Recording, 'votes' | 'clock'>,
  claimed: { vote: Pick<Vote, '_id' | 'serverId'>; attempt: Pick<Attempt, 'id'> }[],
): Promise<void> {
  if (claimed.length === 0) return;
  // The last one first: cut short, this leaves no later vote with an attempt that an earlier lacks.
  const updates = claimed.toReversed().map(({ vote: { serverId, _id }, attempt: { id } }) => {
    const open = { $elemMatch: { id, code: { $exists: false } } };
    const filter = { serverId, _id, 'delivery.state': 'sending', 'delivery.attempts': open } as const;
    return { updateOne: { filter, update: withoutAttempt(id, clock.now()) } };
  });
  await votes.bulkWrite(updates, { ordered: true, writeConcern: DURABLE });
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
