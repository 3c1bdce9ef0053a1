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

/** The votes to exclude: cast from `since` (inclusive) to `until` (exclusive). */
export type ExclusionRequest = {
  serverId: ObjectId;
  since: Date;
  until: Date;
  /** Only votes cast with this token, which may be revoked; null for all votes. */
  tokenId: ObjectId | null;
  /** The reason that only operators see. */
  reason: string;
  /** The reason that the owner of the server sees. */
  reasonForOwner?: string | undefined;
};

/** The message is a sentence for the operator. */
export class ExclusionError extends CodedError<'range-empty' | 'range-not-over' | 'too-many-servers'> {}

export type RequestOptions = {
  /**
   * Whether to wake a worker; true by default. False if the caller finishes the exclusion itself, as the command line
   * does.
   */
  wakesWorker?: boolean;
};

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

function reasonsOf({ reason, reasonForOwner }: Pick<ExclusionRequest, 'reason' | 'reasonForOwner'>) {
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
 * Stores an operator's decision to exclude votes from every count and the ranking. Excluded votes keep their cooldown,
 * check-vote still shows them, and they are still delivered. A worker finishes the exclusion within about a minute. If
 * Redis is unavailable or a process dies: a job that runs regularly finds the stored exclusion.
 *
 * @param exclusionId - created when the form was shown, so sending the form twice creates one exclusion
 * @param by - who decided, for the audit log
 * @returns the stored exclusion
 * @throws {ExclusionError} if the range is refused, {InvalidDocumentError} if a reason is invalid
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
 * If an equal exclusion is in effect: returns its id, so that a repeated command finishes that exclusion. Otherwise
 * returns a new id. It is a hash of the command, so two equal commands at the same time get the same id.
 */
export async function exclusionIdOf(
  { voteExclusions }: VotesDeps,
  { serverId, since, until, tokenId, ...given }: ExclusionRequest,
): Promise<ObjectId> {
  const { reason } = parseInput(reasonsSchema, reasonsOf(given));
  const same = { serverId, since, until, tokenId, reason };
  // Leaves out exclusions of one player. If that name was removed: `usernameKey` is absent, but `groupId` is not.
  const ofRange = { ...same, usernameKey: { $exists: false }, groupId: { $exists: false } };
  const equal = await voteExclusions.find(ofRange, { projection: { undone: 1 } }).toArray();
  const inEffect = equal.find(({ undone }) => !undone);
  return inEffect?._id ?? hashedId(JSON.stringify([same, equal.length]));
}

export function hashedId(text: string): ObjectId {
  return new ObjectId(createHash('sha256').update(text).digest('hex').slice(0, 24));
}

/**
 * Stores that an exclusion is undone, or that a quarantine is lifted. A worker carries this out, as with
 * `requestExclusion`. Votes that another exclusion covers stay excluded. A repeated call changes nothing.
 *
 * @returns the stored exclusion; null when no exclusion has this id
 */
export async function requestInclusion(
  deps: VotesDeps,
  exclusionId: ObjectId,
  by: string,
  options: RequestOptions = {},
): Promise<VoteExclusion | null> {
  const { voteExclusions, clock } = deps;
  const now = clock.now();
  // A quarantine or the exclusion of a block has no end while it is open. It gets one now, slightly in the future, so
  // that it also covers votes that are being inserted.
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

/** Writes the decisions about an exclusion to the audit log, unless they are there already. */
export async function auditDecisions(deps: VotesDeps, exclusion: VoteExclusion): Promise<void> {
  const { by, undone, isQuarantine } = exclusion;
  // If no operator had excluded the held votes before they were lifted: there is no `vote.exclude` entry to write.
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

/** Unfinished exclusions are in progress or were interrupted. */
export async function unfinishedExclusions({ voteExclusions }: VotesDeps): Promise<ObjectId[]> {
  const open = voteExclusions.find({ state: { $in: [...UNFINISHED_STATES] } }, { projection: { _id: 1 } });
  return open.map(({ _id }) => _id).toArray();
}

/** Newest first, undone ones included. */
export function listExclusions({ voteExclusions }: VotesDeps, serverId: ObjectId): Promise<VoteExclusion[]> {
  return voteExclusions.find({ serverId }).sort({ at: -1 }).toArray();
}

/** The newest exclusions of all servers, undone ones included. */
export function newestExclusions(
  { voteExclusions }: VotesDeps,
  { limit }: { limit: number },
): Promise<VoteExclusion[]> {
  return voteExclusions.find({}).sort({ at: -1 }).limit(limit).toArray();
}
