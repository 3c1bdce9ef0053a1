import { type Collection, ObjectId } from 'mongodb';
import { z } from 'zod';
import type { Listener } from '../listeners/listener.ts';
import { CodedError } from '../platform/app-error.ts';
import type { AuditEntry } from '../platform/audit/audit-log.ts';
import { after } from '../platform/clock.ts';
import { parseInput } from '../platform/input.ts';
import { isDuplicateKey } from '../platform/mongo.ts';
import { type ActiveLease, type LeaseDeps, withLease } from '../platform/periods/work-lease.ts';
import type { Producer } from '../platform/queues.ts';
import { optionalReason, reasonText } from '../platform/text.ts';
import { auditExclusion, type CarryOutOptions, carryOut } from './carry-out-exclusion.ts';
import { QUARANTINE_READ_MS, type RecountDeps } from './recount-votes.ts';
import { OPEN_STATES, type VoteExclusion } from './vote-exclusion.ts';

export type ExcludeDeps = RecountDeps &
  LeaseDeps & {
    voteExclusions: Collection<VoteExclusion>;
    listeners: Collection<Listener>;
    auditLog: Collection<AuditEntry>;
    producer: Producer;
  };

/** The votes to exclude from the counts: cast from `since` (inclusive) to `until` (exclusive). */
export type ExclusionRequest = {
  serverId: ObjectId;
  since: Date;
  until: Date;
  /** Only votes cast with this token, revoked or not; null for all. */
  tokenId: ObjectId | null;
  /** For operators only. */
  reason: string;
  /** The owner of the server sees it. */
  reasonForOwner?: string | undefined;
};

/** Why votes cannot be excluded; the message is a sentence. */
export class ExclusionError extends CodedError<'range-empty' | 'range-not-over' | 'too-many-servers'> {}

const reasonsSchema = z.object({ reason: reasonText, reasonForOwner: optionalReason });

/** Runs `work` under the lease of the server: two exclusions may change the same votes and days. */
export function underLease<T>(
  deps: ExcludeDeps,
  serverId: ObjectId,
  { signal }: CarryOutOptions,
  work: (lease: ActiveLease) => Promise<T>,
): Promise<T> {
  return withLease(deps, `vote-exclusions:${serverId.toHexString()}`, work, signal ? { signal } : {});
}

/**
 * Excludes votes from every count and the ranking, on an operator's decision. Excluded votes still count for the cooldown,
 * check-vote still shows them, and they are still delivered. After a crash, the same call or the scheduler's next run
 * finishes the exclusion. A repeated call changes nothing.
 *
 * @param by - who decided, for the audit log
 * @returns the finished exclusion
 * @throws {ExclusionError} when the exclusion is not possible; {InvalidDocumentError} when the reason is invalid; the
 *   errors of `withLease`
 */
export async function excludeVotes(
  deps: ExcludeDeps,
  request: ExclusionRequest,
  by: string,
  options: CarryOutOptions = {},
): Promise<VoteExclusion> {
  const reasons = parseInput(reasonsSchema, reasonsOf(request));
  requireOver(request, deps.clock.now());
  const { serverId, since, until, tokenId } = request;
  return underLease(deps, serverId, options, async (lease) => {
    const same = { serverId, since, until, tokenId, reason: reasons.reason, undone: null };
    // Not one of a player, whose name may be removed by now.
    const ofAllPlayers = { ...same, usernameKey: { $exists: false }, groupId: { $exists: false } };
    const existing = await deps.voteExclusions.findOne(ofAllPlayers);
    if (existing) return carryOut(deps, existing, lease, options);
    const exclusion = newExclusion({ ...same, ...reasons }, new ObjectId(), by, deps.clock.now());
    await deps.voteExclusions.insertOne(exclusion);
    return carryOut(deps, exclusion, lease, options);
  });
}

/**
 * Refuses an empty range, and one that is not over.
 *
 * @throws {ExclusionError}
 */
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

function reasonsOf({ reason, reasonForOwner }: ExclusionRequest) {
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
 * Stores an exclusion. A worker carries it out, which takes up to a minute. When Redis is unavailable, the scheduler's
 * next run finds the stored exclusion.
 *
 * @param exclusionId - made when the votes were shown: a form that is sent twice creates one exclusion
 * @returns the stored exclusion
 * @throws {ExclusionError}; {InvalidDocumentError} for the reason
 */
export async function requestExclusion(
  deps: ExcludeDeps,
  exclusionId: ObjectId,
  request: ExclusionRequest,
  by: string,
): Promise<VoteExclusion> {
  const reasons = parseInput(reasonsSchema, reasonsOf(request));
  requireOver(request, deps.clock.now());
  const wanted = newExclusion({ ...request, ...reasons }, exclusionId, by, deps.clock.now());
  await deps.voteExclusions.insertOne(wanted).catch((error: unknown) => {
    if (!isDuplicateKey(error)) throw error;
  });
  const exclusion = (await deps.voteExclusions.findOne({ _id: exclusionId })) ?? wanted;
  await auditExclusion(deps, exclusion);
  await deps.producer.add('exclude-votes', { exclusionId: exclusionId.toHexString() });
  return exclusion;
}

/**
 * Stores that an exclusion is undone, or that a quarantine is released. A worker does the rest, as for {@link requestExclusion}. The lease of the server
 * makes the undoing wait until the exclusion is finished. A repeated call changes nothing.
 *
 * @returns the stored exclusion; null when no exclusion has this id
 */
export async function requestInclusion(
  deps: ExcludeDeps,
  exclusionId: ObjectId,
  by: string,
): Promise<VoteExclusion | null> {
  await markUndone(deps, exclusionId, by);
  const exclusion = await deps.voteExclusions.findOne({ _id: exclusionId });
  if (!exclusion) return null;
  await auditExclusion(deps, exclusion);
  await deps.producer.add('exclude-votes', { exclusionId: exclusionId.toHexString() });
  return exclusion;
}

async function markUndone(
  { voteExclusions, clock }: ExcludeDeps,
  exclusionId: ObjectId,
  by: string,
): Promise<void> {
  const now = clock.now();
  // A quarantine, or what a block held back, ends here: a vote under way was cast before this time.
  const isOfBlock = { $and: [{ $eq: ['$state', 'excluded'] }, { $gt: ['$blockId', null] }] };
  const isOpen = { $or: [{ $eq: ['$state', 'quarantined'] }, isOfBlock] };
  const until = { $cond: [isOpen, after(now, QUARANTINE_READ_MS), '$until'] };
  await voteExclusions.updateOne({ _id: exclusionId, undone: null }, [
    { $set: { until, undone: { by, at: now } } },
    { $set: { state: { $cond: ['$isQuarantine', 'releasing', 'including'] } } },
    { $unset: 'origin' },
  ]);
}

/**
 * Undoes an exclusion, or releases a quarantine. Votes that another exclusion covers stay excluded. A repeated call finishes an interrupted
 * undoing and changes nothing else.
 *
 * @returns the undone exclusion; null when no exclusion has this id
 * @throws as `withLease` does
 */
export async function includeVotes(
  deps: ExcludeDeps,
  exclusionId: ObjectId,
  by: string,
  options: CarryOutOptions = {},
): Promise<VoteExclusion | null> {
  const found = await deps.voteExclusions.findOne({ _id: exclusionId });
  if (!found) return null;
  return underLease(deps, found.serverId, options, async (lease) => {
    lease.throwIfLost();
    await markUndone(deps, exclusionId, by);
    const existing = await deps.voteExclusions.findOne({ _id: exclusionId });
    return existing && carryOut(deps, existing, lease, options);
  });
}

/** Finishes an exclusion, or its undoing, that was interrupted. Does nothing when it is finished already. */
export async function finishExclusion(
  deps: ExcludeDeps,
  exclusionId: ObjectId,
  options: CarryOutOptions = {},
): Promise<void> {
  const found = await deps.voteExclusions.findOne({ _id: exclusionId });
  if (!found) return;
  await underLease(deps, found.serverId, options, async (lease) => {
    const existing = await deps.voteExclusions.findOne({ _id: exclusionId });
    if (existing) await carryOut(deps, existing, lease, options);
  });
}

/** The exclusions that are not finished: in progress, or interrupted. */
export async function openExclusions({
  voteExclusions,
}: Pick<ExcludeDeps, 'voteExclusions'>): Promise<ObjectId[]> {
  const open = voteExclusions.find({ state: { $in: [...OPEN_STATES] } }, { projection: { _id: 1 } });
  return open.map(({ _id }) => _id).toArray();
}

/** A server's exclusions, newest first, including undone ones. */
export function listExclusions(
  { voteExclusions }: Pick<ExcludeDeps, 'voteExclusions'>,
  serverId: ObjectId,
): Promise<VoteExclusion[]> {
  return voteExclusions.find({ serverId }).sort({ at: -1 }).toArray();
}

/** The newest exclusions of all servers, including undone ones. */
export function newestExclusions(
  { voteExclusions }: Pick<ExcludeDeps, 'voteExclusions'>,
  { limit }: { limit: number },
): Promise<VoteExclusion[]> {
  return voteExclusions.find({}).sort({ at: -1 }).limit(limit).toArray();
}
