import type { Collection, Filter, ObjectId, UpdateFilter, WithId } from 'mongodb';
import { z } from 'zod';
import { type AuditEntry, recordAudit } from '../platform/audit/audit-log.ts';
import type { Clock } from '../platform/clock.ts';
import { parseInput } from '../platform/input.ts';
import { isDuplicateKey } from '../platform/mongo.ts';
import { type Leasing, withLease } from '../platform/periods/work-lease.ts';
import { shownText } from '../platform/text.ts';
import { type AccountMailing, mailAccountChange } from './account-changes.ts';
import type { Credential, Role, SecondFactor, SignInSession, User, Verification } from './user.ts';

/** What deciding about users works on. */
type UserSources = Leasing & {
  users: Collection<User>;
  credentials: Collection<Credential>;
  sessions: Collection<SignInSession>;
  verifications: Collection<Verification>;
  twoFactors: Collection<SecondFactor>;
  auditLog: Collection<AuditEntry>;
  clock: Clock;
};

/** Who decides: an operator; `cli` where nobody is signed in. */
export type Decider = { userId: ObjectId | null; by: string };

/**
 * Why a decision about a user cannot be made.
 *
 * - `user-not-found`
 * - `yourself`: nobody suspends or disarms themselves by mistake.
 * - `last-operator`: somebody must be left who can sign in to the admin area.
 */
export class UserError extends Error {
  readonly code: 'user-not-found' | 'yourself' | 'last-operator';

  constructor(code: UserError['code']) {
    super(SENTENCES[code]);
    this.name = 'UserError';
    this.code = code;
  }
}

const SENTENCES: Record<UserError['code'], string> = {
  'user-not-found': 'There is no such user.',
  yourself: 'Another operator has to do that for you.',
  'last-operator': 'This is the last operator: make another one first.',
};

const reasonSchema = z.object({ reason: shownText(500) });

/**
 * Suspends a user: every session ends at once, and none begins. Their servers stay listed.
 *
 * @throws {InvalidDocumentError} for a reason that is none; {UserError}
 */
export async function suspendUser(
  deps: UserSources,
  userId: ObjectId,
  { reason: given }: { reason: string },
  who: Decider,
): Promise<void> {
  const { reason } = parseInput(reasonSchema, { reason: given });
  await decide(deps, userId, who, { mayNotBeLast: true }, async () => {
    const suspendedAt = deps.clock.now();
    await change(deps, userId, { $set: { suspendedAt, suspendedFor: reason } });
    await endSessions(deps, userId);
    return { action: 'person.suspend', details: { reason } };
  });
}

/** Lets a suspended user sign in again. */
export async function liftSuspension(deps: UserSources, userId: ObjectId, who: Decider): Promise<void> {
  await decide(deps, userId, who, {}, async () => {
    // One that began in the moment of the suspension must not come back to life.
    await endSessions(deps, userId);
    await change(deps, userId, { $set: { suspendedAt: null }, $unset: { suspendedFor: '' } });
    return { action: 'person.lift', details: {} };
  });
}

/** Takes a lost second factor away, and mails it to the user. Every session ends: whoever found the phone is out too. */
export async function resetTwoFactor(
  deps: UserSources & AccountMailing,
  userId: ObjectId,
  who: Decider,
): Promise<void> {
  await decide(deps, userId, who, {}, async () => {
    await endSessions(deps, userId);
    await change(deps, userId, { $set: { twoFactorEnabled: false } });
    await deps.twoFactors.deleteMany({ userId: userId });
    return { action: 'person.reset-two-factor', details: {} };
  });
  const user = await deps.users.findOne({ _id: userId });
  if (user) await mailAccountChange(deps, user, 'two-factor-reset');
}

/** Makes a user an operator, or an operator an owner like others. Takes effect with their next request. */
export async function setRole(deps: UserSources, userId: ObjectId, role: Role, who: Decider): Promise<void> {
  await decide(deps, userId, who, { mayNotBeLast: role === 'owner' }, async () => {
    await change(deps, userId, { $set: { role } });
    return { action: role === 'operator' ? 'person.make-operator' : 'person.unmake-operator', details: {} };
  });
}

/** Notes in the audit log that somebody was given a link to set a user's password. */
export async function noteLink(
  deps: Pick<UserSources, 'auditLog' | 'clock'>,
  user: Pick<User, '_id' | 'email'>,
  { by }: Pick<Decider, 'by'>,
): Promise<void> {
  await recordAudit(deps, {
    by,
    action: 'person.give-link',
    serverId: null,
    details: { personId: user._id.toHexString(), email: user.email },
  });
}

const newUser = z.object({
  email: z
    .string()
    .trim()
    .max(254, 'must be shorter')
    .pipe(z.email('must be an e-mail address'))
    .transform((email) => email.toLowerCase()),
  name: shownText(60).optional(),
});

/**
 * Makes an operator: a new user without a password, or one who is there already.
 *
 * @throws {InvalidDocumentError} for an address or name that is none
 */
export async function createOperator(
  deps: UserSources,
  given: z.input<typeof newUser>,
  who: Decider,
): Promise<{ user: WithId<User>; isNew: boolean }> {
  const { user, isNew } = await ensureUser(deps, given);
  await setRole(deps, user._id, 'operator', who);
  return { user: { ...user, role: 'operator' }, isNew };
}

/**
 * Finds a user by their address, or makes one without a password. The address counts as confirmed, since an
 * operator of the listing gave it. An account that somebody made with it and never confirmed may be a stranger's:
 * it loses its password, its second factor and its sessions.
 *
 * @throws {InvalidDocumentError} for an address or name that is none
 */
export async function ensureUser(
  deps: Pick<UserSources, 'users' | 'credentials' | 'sessions' | 'verifications' | 'twoFactors' | 'clock'>,
  given: z.input<typeof newUser>,
): Promise<{ user: WithId<User>; isNew: boolean }> {
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
    // Before the address counts as confirmed: killed in between, this is done again.
    if (stranger) await takeEntryAway(deps, stranger._id);
    return users.findOneAndUpdate(
      { email, ...(stranger ? {} : { emailVerified: true }) },
      {
        $set: { emailVerified: true, updatedAt: now, ...(name === undefined ? {} : { name }) },
        $setOnInsert: made,
      },
      { upsert: true, returnDocument: 'after', includeResultMetadata: true },
    );
  };
  const { value, lastErrorObject } = await ensure().catch((error: unknown) => {
    // Two at once: the other one has made it.
    if (isDuplicateKey(error)) return ensure();
    throw error;
  });
  if (!value) throw new UserError('user-not-found');
  return { user: value, isNew: lastErrorObject?.updatedExisting === false };
}

/** Whoever has an account's password cannot enter with it any more, nor with a session that is open. */
export async function takeEntryAway(
  deps: Pick<UserSources, 'users' | 'credentials' | 'sessions' | 'verifications' | 'twoFactors'>,
  userId: ObjectId,
): Promise<void> {
  await deps.credentials.deleteMany({ userId });
  await deps.twoFactors.deleteMany({ userId });
  await deps.users.updateOne({ _id: userId }, { $set: { twoFactorEnabled: false } });
  await endSessions(deps, userId);
}

/** The operators, the oldest first. */
export function listOperators({ users }: Pick<UserSources, 'users'>): Promise<WithId<User>[]> {
  return users.find({ role: 'operator' }).sort({ createdAt: 1, _id: 1 }).toArray();
}

/** Ends every session of a user, or every other one than `keep`. */
export async function endSessions(
  { sessions, verifications }: Pick<UserSources, 'sessions' | 'verifications'>,
  userId: ObjectId,
  keep?: ObjectId,
): Promise<number> {
  const other: Filter<SignInSession> = keep ? { _id: { $ne: keep } } : {};
  const { deletedCount } = await sessions.deleteMany({ userId: userId, ...other });
  // A sign-in that waits for its second factor, and links to set a password.
  await verifications.deleteMany({ value: userId.toHexString() });
  return deletedCount;
}

type Change = Pick<UpdateFilter<User>, '$unset'> & { $set: Partial<User> };

async function change({ users, clock }: UserSources, _id: ObjectId, update: Change): Promise<void> {
  await users.updateOne({ _id }, { ...update, $set: { ...update.$set, updatedAt: clock.now() } });
}

/**
 * Makes a decision about a user and notes it. One at a time over all processes: else two operators could
 * unmake each other, and nobody be left.
 */
async function decide(
  deps: UserSources,
  userId: ObjectId,
  { userId: decider, by }: Decider,
  { mayNotBeLast = false }: { mayNotBeLast?: boolean },
  work: () => Promise<{ action: string; details: Record<string, unknown> }>,
): Promise<void> {
  if (decider?.equals(userId)) throw new UserError('yourself');
  await withLease(deps, 'decide-about-users', async () => {
    const user = await deps.users.findOne({ _id: userId });
    if (!user) throw new UserError('user-not-found');
    if (mayNotBeLast && user.role === 'operator' && !user.suspendedAt) {
      const others = { role: 'operator' as const, suspendedAt: null, _id: { $ne: userId } };
      if (!(await deps.users.findOne(others))) throw new UserError('last-operator');
    }
    const { action, details } = await work();
    await recordAudit(deps, {
      by,
      action,
      serverId: null,
      details: { personId: userId.toHexString(), email: user.email, ...details },
    });
  });
}
