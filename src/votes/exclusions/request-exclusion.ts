import { createHash } from 'node:crypto';
import { ObjectId } from 'mongodb';
import { z } from 'zod';
import { CodedError } from '../../platform/app-error.ts';
import type { AuditAction } from '../../platform/audit/audit-actions.ts';
import { recordAuditOnce } from '../../platform/audit/audit-log.ts';
import { after } from '../../platform/clock.ts';
import { parseInput } from '../../platform/input.ts';
import { isDuplicateKey } from '../../platform/mongo.ts';
import { optionalReason, reasonText } from '../../platform/text.ts';
import { QUARANTINE_READ_MS } from '../cast/insert-vote.ts';
import type { VotesDeps } from '../deps.ts';
import { AUTOMATIC, UNFINISHED_STATES, type VoteExclusion } from './vote-exclusion.ts';

/** Of the votes cast from `since` (inclusive) to `until` (exclusive). */
export type ExclusionRequest = {
  serverId: ObjectId;
  since: Date;
  until: Date;
  /** Of the votes; it may be revoked. Null for all votes. */
  tokenId: ObjectId | null;
} & ExclusionReasons;

/** The message is a sentence for the operator. */
export class ExclusionError extends CodedError<'range-empty' | 'range-not-over' | 'too-many-servers'> {}

export type RequestOptions = {
  /** False if the caller finishes the exclusion itself, as the command line does. */
  wakesWorker?: boolean;
};

/** Only operators see `reason`. */
export type ExclusionReasons = { reason: string; reasonForOwner?: string | undefined };

export const reasonsSchema = z.object({ reason: reasonText, reasonForOwner: optionalReason });

/** @throws {ExclusionError} `range-empty` for an empty range, `range-not-over` for one that ends in the future */
export function requireOver({ since, until }: Pick<ExclusionRequest, 'since' | 'until'>, now: Date): void {
  if (since >= until)
    throw new ExclusionError('range-empty', 'The range is empty: its beginning must be before its end.');
  if (until > now) {
    throw new ExclusionError(
      'range-not-over',
      'The range must end now or earlier: only votes that were cast can be excluded.',
    );
  }
}

function reasonsOf({ reason, reasonForOwner }: ExclusionReasons): ExclusionReasons {
  return { reason, reasonForOwner };
}

function newExclusion(
  { serverId, since, until, tokenId, reason, reasonForOwner }: ExclusionRequest,
  _id: ObjectId,
  by: string,
  at: Date,
): VoteExclusion {
  const range = { serverId, since, until, tokenId, reason, ...(reasonForOwner ? { reasonForOwner } : {}) };
  return { ...range, _id, by, at, undone: null, state: 'excluding', days: [], votes: null };
}

/**
 * Stores an operator's decision to exclude votes from every count and the ranking; they keep their cooldown and are
 * still delivered. A worker finishes it within about a minute; if Redis fails, a regular job finds it. `exclusionId`
 * was made when the form was shown, so sending the form twice makes one exclusion.
 *
 * @throws {ExclusionError} if the range is refused
 */
export async function requestExclusion(
  deps: VotesDeps,
  exclusionId: ObjectId,
  request: ExclusionRequest,
  by: string,
  options: RequestOptions = {},
): Promise<VoteExclusion> {
  const reasons = parseInput(reasonsSchema, reasonsOf(request));
  requireOver(request, deps.clock.now());
  const wanted = newExclusion({ ...request, ...reasons }, exclusionId, by, deps.clock.now());
  await deps.voteExclusions.insertOne(wanted).catch((error: unknown) => {
    if (!isDuplicateKey(error)) throw error;
  });
  const exclusion = (await deps.voteExclusions.findOne({ _id: exclusionId })) ?? wanted;
  await auditAndWake(deps, exclusion, options);
  return exclusion;
}

/**
 * A repeated command finishes its exclusion. A new id is a hash of the command, for two equal ones at the same time.
 */
export async function exclusionIdOf(
  { voteExclusions }: VotesDeps,
  { serverId, since, until, tokenId, ...given }: ExclusionRequest,
): Promise<ObjectId> {
  const { reason } = parseInput(reasonsSchema, reasonsOf(given));
  const same = { serverId, since, until, tokenId, reason };
  // Without those of one player. If the name was removed, `usernameKey` is absent, but `groupId` is not.
  const ofRange = { ...same, usernameKey: { $exists: false }, groupId: { $exists: false } };
  const equal = await voteExclusions.find(ofRange, { projection: { undone: 1 } }).toArray();
  const inEffect = equal.find(({ undone }) => !undone);
  return inEffect?._id ?? hashedId(JSON.stringify([same, equal.length]));
}

export function hashedId(text: string): ObjectId {
  return new ObjectId(createHash('sha256').update(text).digest('hex').slice(0, 24));
}

/**
 * Stores that an exclusion is undone, or that a quarantine is lifted; a worker carries it out. Votes that another
 * exclusion covers stay excluded. Null when no exclusion has this id.
 */
export async function requestInclusion(
  deps: VotesDeps,
  exclusionId: ObjectId,
  by: string,
  options: RequestOptions = {},
): Promise<VoteExclusion | null> {
  const { voteExclusions, clock } = deps;
  const now = clock.now();
  // An open exclusion has no end. It gets one slightly in the future, for votes that are being inserted.
  const isOfBlock = { $and: [{ $eq: ['$state', 'excluded'] }, { $gt: ['$blockId', null] }] };
  const isOpen = { $or: [{ $eq: ['$state', 'quarantined'] }, isOfBlock] };
  const until = { $cond: [isOpen, after(now, QUARANTINE_READ_MS), '$until'] };
  await voteExclusions.updateOne({ _id: exclusionId, undone: null }, [
    { $set: { until, undone: { by, at: now } } },
    { $set: { state: { $cond: ['$isQuarantine', 'releasing', 'including'] } } },
    { $unset: 'origin' },
  ]);
  const exclusion = await voteExclusions.findOne({ _id: exclusionId });
  if (exclusion) await auditAndWake(deps, exclusion, options);
  return exclusion;
}

export async function auditAndWake(
  deps: VotesDeps,
  exclusion: VoteExclusion,
  { wakesWorker = true }: RequestOptions = {},
): Promise<void> {
  await auditDecisions(deps, exclusion);
  if (wakesWorker) await deps.producer.add('exclude-votes', { exclusionId: exclusion._id.toHexString() });
}

/** Unless they are in the audit log already. */
export async function auditDecisions(deps: VotesDeps, exclusion: VoteExclusion): Promise<void> {
  const { by, undone, isQuarantine } = exclusion;
  // Held votes that no operator excluded before they were lifted have no `vote.exclude` entry.
  const isDecided = !isQuarantine || by !== AUTOMATIC;
  if (isDecided) await audit(deps, exclusion, 'vote.exclude', by);
  if (undone) await audit(deps, exclusion, isDecided ? 'vote.include' : 'vote.release', undone.by);
}

async function audit(
  deps: VotesDeps,
  { _id, serverId, since, until, tokenId, username, reason, reasonForOwner }: VoteExclusion,
  action: AuditAction,
  by: string,
): Promise<void> {
  const exclusionId = _id.toHexString();
  const range = { since: since.toISOString(), until: until.toISOString() };
  const reasons = { reason, ...(reasonForOwner ? { reasonForOwner } : {}) };
  const player = username ? { username } : {};
  const details = {
    exclusionId,
    ...range,
    tokenId: tokenId?.toHexString() ?? null,
    ...player,
    ...reasons,
  };
  await recordAuditOnce(deps, hashedId(`${action} ${exclusionId}`), { by, action, serverId, details });
}

/** The exclusions that are in progress or interrupted. */
export async function unfinishedExclusions({ voteExclusions }: VotesDeps): Promise<ObjectId[]> {
  const open = voteExclusions.find({ state: { $in: [...UNFINISHED_STATES] } }, { projection: { _id: 1 } });
  return open.map(({ _id }) => _id).toArray();
}

/** Newest first, undone ones included. */
export function listExclusions({ voteExclusions }: VotesDeps, serverId: ObjectId): Promise<VoteExclusion[]> {
  return voteExclusions.find({ serverId }).sort({ at: -1 }).toArray();
}

/** The newest exclusions of all servers, undone ones included. */
export function newestExclusions({ voteExclusions }: VotesDeps, { limit }: { limit: number }) {
  return voteExclusions.find({}).sort({ at: -1 }).limit(limit).toArray();
}
