import type { Filter, ObjectId, UpdateFilter, WithId } from 'mongodb';
import { z } from 'zod';
import { CodedError } from '../platform/app-error.ts';
import type { AuditAction } from '../platform/audit/audit-actions.ts';
import { recordAudit } from '../platform/audit/audit-log.ts';
import { emailAddress } from '../platform/email-address.ts';
import { parseInput } from '../platform/input.ts';
import { retryOnDuplicateKey } from '../platform/mongo.ts';
import { type ActiveLease, withLease } from '../platform/periods/work-lease.ts';
import { optionalReason, shownText } from '../platform/text.ts';
import { mailAccountChange } from './account-changes.ts';
import type { AccountsDeps } from './deps.ts';
import { inLanguageOfUser } from './mail-language.ts';
import type { SignInSession, User, UserRole } from './user.ts';

/** `by`: the operator's e-mail address. At the command line, `by` is `cli` and `userId` is null. */
export type Decider = { userId: ObjectId | null; by: string };

/**
 * `yourself`: operators cannot decide about their own account. `last-operator`: one must be able to sign in to the
 * admin area.
 */
export class UserError extends CodedError<keyof typeof MESSAGES> {
  constructor(code: keyof typeof MESSAGES) {
    super(code, MESSAGES[code]);
  }
}

const MESSAGES = {
  'user-not-found': 'There is no such user.',
  yourself: 'Another operator has to do that for you.',
  'last-operator': 'This is the last operator: make another one first.',
} as const;

const suspension = z.object({ reason: shownText(500), reasonForOwner: optionalReason });

/**
 * All sessions end at once; the user's servers stay listed. `reason` is internal; the user sees `reasonForOwner`.
 *
 * @throws {InvalidDocumentError} for an invalid reason; {UserError} as in `decide`
 */
export async function suspendUser(
  deps: AccountsDeps,
  userId: ObjectId,
  input: { reason: string; reasonForOwner?: string | undefined },
  who: Decider,
): Promise<void> {
  const { reason, reasonForOwner } = parseInput(suspension, input);
  await decide(deps, userId, who, { mayNotBeLast: true }, async () => {
    const given = reasonForOwner ? { suspensionReason: reasonForOwner } : {};
    await change(deps, userId, {
      $set: { suspendedAt: deps.clock.now(), suspendedFor: reason, ...given },
      ...(reasonForOwner ? {} : { $unset: { suspensionReason: '' } }),
    });
    await endSessions(deps, userId);
    return { action: 'person.suspend', details: { reason, ...(reasonForOwner ? { reasonForOwner } : {}) } };
  });
}

export async function liftSuspension(deps: AccountsDeps, userId: ObjectId, who: Decider): Promise<void> {
  await decide(deps, userId, who, {}, async () => {
    // A session that started at the moment of the suspension may still exist, and would become valid again.
    await endSessions(deps, userId);
    await change(deps, userId, {
      $set: { suspendedAt: null },
      $unset: { suspendedFor: '', suspensionReason: '' },
    });
    return { action: 'person.lift', details: {} };
  });
}

/**
 * For a listing that sends no mail. The operator must know that the address is the user's: with it, the user can accept
 * invitations, and gets the servers that are reserved for it.
 */
export async function confirmAddress(deps: AccountsDeps, userId: ObjectId, who: Decider): Promise<void> {
  await decide(deps, userId, who, {}, async () => {
    await change(deps, userId, { $set: { emailVerified: true } });
    return { action: 'person.confirm-address', details: {} };
  });
}

/** The sessions end first, in case the process dies, and again last: the lost phone may have begun one meanwhile. */
export async function resetTwoFactor(deps: AccountsDeps, userId: ObjectId, who: Decider): Promise<void> {
  await decide(deps, userId, who, {}, async () => {
    await endSessions(deps, userId);
    await change(deps, userId, { $set: { twoFactorEnabled: false } });
    await deps.twoFactors.deleteMany({ userId });
    await endSessions(deps, userId);
    return { action: 'person.reset-two-factor', details: {} };
  });
  const user = await deps.users.findOne({ _id: userId });
  if (user)
    await inLanguageOfUser(deps.config, user, () => mailAccountChange(deps, user, 'two-factor-reset'));
}

export async function setRole(deps: AccountsDeps, userId: ObjectId, role: UserRole, who: Decider) {
  await decide(deps, userId, who, { mayNotBeLast: role === 'owner' }, async () => {
    await change(deps, userId, { $set: { role } });
    return { action: role === 'operator' ? 'person.make-operator' : 'person.unmake-operator', details: {} };
  });
}

export async function notePasswordLink(
  deps: AccountsDeps,
  user: Pick<User, '_id' | 'email'>,
  { by }: Pick<Decider, 'by'>,
): Promise<void> {
  const details = { personId: user._id.toHexString(), email: user.email };
  await recordAudit(deps, { by, action: 'person.give-link', serverId: null, details });
}

const newUser = z.object({
  email: emailAddress({ error: 'must be an e-mail address' }, { error: 'must be shorter' }),
  name: shownText(60).optional(),
});

/**
 * A new operator has no password.
 *
 * @throws {InvalidDocumentError} for an invalid address or name; {UserError} as in `decide`
 */
export async function createOperator(deps: AccountsDeps, given: z.input<typeof newUser>, who: Decider) {
  const { user, isNew } = await ensureUser(deps, given);
  await setRole(deps, user._id, 'operator', who);
  return { user: { ...user, role: 'operator' as const }, isNew };
}

/**
 * Finds or makes a user, without a password. The address becomes confirmed, so the caller must trust it. An unconfirmed
 * account may be a stranger's: it loses its password, its second factor and its sessions.
 *
 * @throws {InvalidDocumentError} for an invalid address or name
 */
export async function ensureUser(deps: AccountsDeps, given: z.input<typeof newUser>) {
  const { users, clock } = deps;
  const { email, name } = parseInput(newUser, given);
  const now = clock.now();
  const made = {
    createdAt: now,
    role: 'owner' as const,
    twoFactorEnabled: false,
    wantsMail: true,
    ...(name === undefined ? { name: email.split('@')[0] ?? email } : {}),
  };
  const ensure = async () => {
    const stranger = await users.findOne({ email, emailVerified: { $ne: true } });
    // If the process dies here, the address is still unconfirmed, and the next call revokes the access.
    if (stranger) await revokeAccess(deps, stranger._id);
    return users.findOneAndUpdate(
      { email, ...(stranger ? {} : { emailVerified: true }) },
      {
        $set: { emailVerified: true, updatedAt: now, ...(name === undefined ? {} : { name }) },
        $setOnInsert: made,
      },
      { upsert: true, returnDocument: 'after', includeResultMetadata: true },
    );
  };
  const { value, lastErrorObject } = await retryOnDuplicateKey(ensure);
  if (!value) throw new UserError('user-not-found');
  return { user: value, isNew: lastErrorObject?.updatedExisting === false };
}

export async function revokeAccess(deps: AccountsDeps, userId: ObjectId): Promise<void> {
  await deps.credentials.deleteMany({ userId });
  await deps.twoFactors.deleteMany({ userId });
  await deps.users.updateOne({ _id: userId }, { $set: { twoFactorEnabled: false } });
  await endSessions(deps, userId);
}

export function listOperators({ users }: AccountsDeps): Promise<WithId<User>[]> {
  return users.find({ role: 'operator' }).sort({ createdAt: 1, _id: 1 }).toArray();
}

/** Returns how many ended. */
export async function endSessions(
  { sessions, verifications }: AccountsDeps,
  userId: ObjectId,
  keep?: ObjectId,
): Promise<number> {
  const other: Filter<SignInSession> = keep ? { _id: { $ne: keep } } : {};
  const { deletedCount } = await sessions.deleteMany({ userId, ...other });
  // Deletes sign-ins that are waiting for a second factor, and links to set a password.
  await verifications.deleteMany({ value: userId.toHexString() });
  return deletedCount;
}

type Change = Pick<UpdateFilter<User>, '$unset'> & { $set: Partial<User> };

async function change({ users, clock }: AccountsDeps, _id: ObjectId, update: Change): Promise<void> {
  await users.updateOne({ _id }, { ...update, $set: { ...update.$set, updatedAt: clock.now() } });
}

/**
 * Runs a decision about a user and records it. The lease prevents that two operators demote each other.
 *
 * @throws {UserError} if the user does not exist, is the decider, or (with `mayNotBeLast`) is the last operator
 */
export async function decide(
  deps: AccountsDeps,
  userId: ObjectId,
  { userId: decider, by }: Decider,
  { mayNotBeLast = false }: { mayNotBeLast?: boolean },
  work: (user: WithId<User>) => Promise<{ action: AuditAction; details: Record<string, unknown> }>,
): Promise<void> {
  if (decider?.equals(userId)) throw new UserError('yourself');
  await decidingAlone(deps, async (lease) => {
    const user = await deps.users.findOne({ _id: userId });
    if (!user) throw new UserError('user-not-found');
    if (mayNotBeLast) await refuseLastOperator(deps, user);
    lease.throwIfLost();
    const { action, details } = await work(user);
    const named = { personId: userId.toHexString(), email: user.email, ...details };
    await recordAudit(deps, { by, action, serverId: null, details: named });
  });
}

/** No other decision about users is made meanwhile, on any process. */
export function decidingAlone<T>(deps: AccountsDeps, work: (lease: ActiveLease) => Promise<T>): Promise<T> {
  // The lease keeps the name of 0.1.0, because processes of that version may run beside this one.
  return withLease(deps, 'decide-about-people', work);
}

/** @throws {UserError} `last-operator` if no operator remains without this user and those in `leaving` */
export async function refuseLastOperator(
  { users }: AccountsDeps,
  { _id, role, suspendedAt }: Pick<WithId<User>, '_id' | 'role' | 'suspendedAt'>,
  leaving: ObjectId[] = [],
): Promise<void> {
  if (role !== 'operator' || suspendedAt) return;
  const others = { role: 'operator' as const, suspendedAt: null, _id: { $nin: [_id, ...leaving] } };
  if (!(await users.findOne(others))) throw new UserError('last-operator');
}
