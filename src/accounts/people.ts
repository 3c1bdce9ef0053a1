import type { Collection, Filter, ObjectId, UpdateFilter, WithId } from 'mongodb';
import { z } from 'zod';
import { type AuditEntry, recordAudit } from '../platform/audit/audit-log.ts';
import type { Clock } from '../platform/clock.ts';
import { parseInput } from '../platform/input.ts';
import { isDuplicateKey } from '../platform/mongo.ts';
import { type Leasing, withLease } from '../platform/periods/work-lease.ts';
import { shownText } from '../platform/text.ts';
import type { Credential, Person, Role, SecondFactor, SignInSession, Verification } from './person.ts';

/** What deciding about people works on. */
type PeopleSources = Leasing & {
  people: Collection<Person>;
  credentials: Collection<Credential>;
  sessions: Collection<SignInSession>;
  verifications: Collection<Verification>;
  twoFactors: Collection<SecondFactor>;
  auditLog: Collection<AuditEntry>;
  clock: Clock;
};

/** Who decides: an operator; `cli` where nobody is signed in. */
export type Decider = { personId: ObjectId | null; by: string };

/**
 * Why a decision about a person cannot be made.
 *
 * - `person-not-found`
 * - `yourself`: nobody suspends or disarms themselves by mistake.
 * - `last-operator`: somebody must be left who can sign in to the desk.
 */
export class PersonError extends Error {
  readonly code: 'person-not-found' | 'yourself' | 'last-operator';

  constructor(code: PersonError['code']) {
    super(SENTENCES[code]);
    this.name = 'PersonError';
    this.code = code;
  }
}

const SENTENCES: Record<PersonError['code'], string> = {
  'person-not-found': 'There is no such person.',
  yourself: 'Another operator has to do that for you.',
  'last-operator': 'This is the last operator: make another one first.',
};

const reasonSchema = z.object({ reason: shownText(500) });

/**
 * Suspends a person: every session ends at once, and none begins. Their servers stay listed.
 *
 * @throws {InvalidDocumentError} for a reason that is none; {PersonError}
 */
export async function suspendPerson(
  deps: PeopleSources,
  personId: ObjectId,
  { reason: given }: { reason: string },
  who: Decider,
): Promise<void> {
  const { reason } = parseInput(reasonSchema, { reason: given });
  await decide(deps, personId, who, { mayNotBeLast: true }, async () => {
    const suspendedAt = deps.clock.now();
    await change(deps, personId, { $set: { suspendedAt, suspendedFor: reason } });
    await endSessions(deps, personId);
    return { action: 'person.suspend', details: { reason } };
  });
}

/** Lets a suspended person sign in again. */
export async function liftSuspension(deps: PeopleSources, personId: ObjectId, who: Decider): Promise<void> {
  await decide(deps, personId, who, {}, async () => {
    // One that began in the moment of the suspension must not come back to life.
    await endSessions(deps, personId);
    await change(deps, personId, { $set: { suspendedAt: null }, $unset: { suspendedFor: '' } });
    return { action: 'person.lift', details: {} };
  });
}

/** Takes a lost second factor away. Every session ends: whoever found the phone is out too. */
export async function resetTwoFactor(deps: PeopleSources, personId: ObjectId, who: Decider): Promise<void> {
  await decide(deps, personId, who, {}, async () => {
    await endSessions(deps, personId);
    await change(deps, personId, { $set: { twoFactorEnabled: false } });
    await deps.twoFactors.deleteMany({ userId: personId });
    return { action: 'person.reset-two-factor', details: {} };
  });
}

/** Makes a person an operator, or an operator an owner like others. Takes effect with their next request. */
export async function setRole(
  deps: PeopleSources,
  personId: ObjectId,
  role: Role,
  who: Decider,
): Promise<void> {
  await decide(deps, personId, who, { mayNotBeLast: role === 'owner' }, async () => {
    await change(deps, personId, { $set: { role } });
    return { action: role === 'operator' ? 'person.make-operator' : 'person.unmake-operator', details: {} };
  });
}

/** Notes in the audit log that somebody was given a link to set a person's password. */
export async function noteLink(
  deps: Pick<PeopleSources, 'auditLog' | 'clock'>,
  person: Pick<Person, '_id' | 'email'>,
  { by }: Pick<Decider, 'by'>,
): Promise<void> {
  await recordAudit(deps, {
    by,
    action: 'person.give-link',
    serverId: null,
    details: { personId: person._id.toHexString(), email: person.email },
  });
}

const newPerson = z.object({
  email: z
    .string()
    .trim()
    .max(254, 'must be shorter')
    .pipe(z.email('must be an e-mail address'))
    .transform((email) => email.toLowerCase()),
  name: shownText(60).optional(),
});

/**
 * Makes an operator: a new person without a password, or one who is there already.
 *
 * @throws {InvalidDocumentError} for an address or name that is none
 */
export async function createOperator(
  deps: PeopleSources,
  given: z.input<typeof newPerson>,
  who: Decider,
): Promise<{ person: WithId<Person>; isNew: boolean }> {
  const { person, isNew } = await ensurePerson(deps, given);
  await setRole(deps, person._id, 'operator', who);
  return { person: { ...person, role: 'operator' }, isNew };
}

/**
 * Finds a person by their address, or makes one without a password. The address counts as confirmed, since an
 * operator of the listing gave it. An account that somebody made with it and never confirmed may be a stranger's:
 * it loses its password, its second factor and its sessions.
 *
 * @throws {InvalidDocumentError} for an address or name that is none
 */
export async function ensurePerson(
  deps: Pick<PeopleSources, 'people' | 'credentials' | 'sessions' | 'verifications' | 'twoFactors' | 'clock'>,
  given: z.input<typeof newPerson>,
): Promise<{ person: WithId<Person>; isNew: boolean }> {
  const { people, clock } = deps;
  const { email, name } = parseInput(newPerson, given);
  const now = clock.now();
  const made = {
    createdAt: now,
    role: 'owner' as const,
    twoFactorEnabled: false,
    wantsMail: true,
    ...(name === undefined ? { name: email.split('@')[0] ?? email } : {}),
  };
  const ensure = async () => {
    const stranger = await people.findOne({ email, emailVerified: { $ne: true } });
    // Before the address counts as confirmed: killed in between, this is done again.
    if (stranger) await takeEntryAway(deps, stranger._id);
    return people.findOneAndUpdate(
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
  if (!value) throw new PersonError('person-not-found');
  return { person: value, isNew: lastErrorObject?.updatedExisting === false };
}

/** Whoever has an account's password cannot enter with it any more, nor with a session that is open. */
export async function takeEntryAway(
  deps: Pick<PeopleSources, 'people' | 'credentials' | 'sessions' | 'verifications' | 'twoFactors'>,
  userId: ObjectId,
): Promise<void> {
  await deps.credentials.deleteMany({ userId });
  await deps.twoFactors.deleteMany({ userId });
  await deps.people.updateOne({ _id: userId }, { $set: { twoFactorEnabled: false } });
  await endSessions(deps, userId);
}

/** The operators, the oldest first. */
export function listOperators({ people }: Pick<PeopleSources, 'people'>): Promise<WithId<Person>[]> {
  return people.find({ role: 'operator' }).sort({ createdAt: 1, _id: 1 }).toArray();
}

/** Ends every session of a person, or every other one than `keep`. */
export async function endSessions(
  { sessions, verifications }: Pick<PeopleSources, 'sessions' | 'verifications'>,
  personId: ObjectId,
  keep?: ObjectId,
): Promise<number> {
  const other: Filter<SignInSession> = keep ? { _id: { $ne: keep } } : {};
  const { deletedCount } = await sessions.deleteMany({ userId: personId, ...other });
  // A sign-in that waits for its second factor, and links to set a password.
  await verifications.deleteMany({ value: personId.toHexString() });
  return deletedCount;
}

type Change = Pick<UpdateFilter<Person>, '$unset'> & { $set: Partial<Person> };

async function change({ people, clock }: PeopleSources, _id: ObjectId, update: Change): Promise<void> {
  await people.updateOne({ _id }, { ...update, $set: { ...update.$set, updatedAt: clock.now() } });
}

/**
 * Makes a decision about a person and notes it. One at a time over all processes: else two operators could
 * unmake each other, and nobody be left.
 */
async function decide(
  deps: PeopleSources,
  personId: ObjectId,
  { personId: decider, by }: Decider,
  { mayNotBeLast = false }: { mayNotBeLast?: boolean },
  work: () => Promise<{ action: string; details: Record<string, unknown> }>,
): Promise<void> {
  if (decider?.equals(personId)) throw new PersonError('yourself');
  await withLease(deps, 'decide-about-people', async () => {
    const person = await deps.people.findOne({ _id: personId });
    if (!person) throw new PersonError('person-not-found');
    if (mayNotBeLast && person.role === 'operator' && !person.suspendedAt) {
      const others = { role: 'operator' as const, suspendedAt: null, _id: { $ne: personId } };
      if (!(await deps.people.findOne(others))) throw new PersonError('last-operator');
    }
    const { action, details } = await work();
    await recordAudit(deps, {
      by,
      action,
      serverId: null,
      details: { personId: personId.toHexString(), email: person.email, ...details },
    });
  });
}
