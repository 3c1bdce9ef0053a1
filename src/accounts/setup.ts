import { type Collection, ObjectId, type WithId } from 'mongodb';
import { CodedError } from '../platform/app-error.ts';
import { recordAudit } from '../platform/audit/audit-log.ts';
import { after, type Clock, HOUR, MINUTE } from '../platform/clock.ts';
import type { Config } from '../platform/config.ts';
import { defineLimit } from '../platform/limits/define-limit.ts';
import type { ActiveLease } from '../platform/periods/work-lease.ts';
import type { Auth } from './auth.ts';
import type { AccountsDeps } from './deps.ts';
import { hashOneTimeToken, MAX_TOKEN_LENGTH, makeOneTimeToken } from './one-time-token.ts';
import { TOO_MANY_ATTEMPTS } from './sign-in-limits.ts';
import type { User, Verification } from './user.ts';
import { decidingAlone, ensureUser, revokeAccess } from './users.ts';

export const SETUP_LINK_MS = HOUR;

/** A token is too long to be guessed; the limit keeps the cost of guesses low. */
export const SETUP_CODES = defineLimit({
  key: 'setup-code:address',
  what: 'Codes of setup links, right and wrong',
  of: 'network',
  times: 20,
  windowMs: 10 * MINUTE,
  sentence: TOO_MANY_ATTEMPTS,
});

/** Other one-time links are in the same collection. */
const VALUE = 'setup';

type Links = { users: Collection<User>; verifications: Collection<Verification>; clock: Clock };

export class SetupError extends CodedError<'has-operator'> {}

/** Even a suspended operator counts: then no setup link works. */
export async function hasOperator({ users }: Pick<Links, 'users'>): Promise<boolean> {
  return (await users.findOne({ role: 'operator' }, { projection: { _id: 1 } })) !== null;
}

/**
 * Works once, within an hour; earlier links stop working. The token is in the URL's fragment, so no access log contains
 * it. The audit log gets no entry: a backup can be restored only while the audit log is empty.
 *
 * @throws {SetupError} `has-operator` if the site has an operator
 */
export async function makeSetupLink(deps: Links & { config: Pick<Config, 'PUBLIC_URL'> }): Promise<string> {
  const { verifications, clock, config } = deps;
  if (await hasOperator(deps)) throw new SetupError('has-operator', 'This site has an operator already.');
  const token = makeOneTimeToken();
  await endSetupLinks(deps);
  await verifications.insertOne({
    _id: new ObjectId(),
    identifier: identifierOf(token),
    value: VALUE,
    expiresAt: after(clock.now(), SETUP_LINK_MS),
  });
  return `${config.PUBLIC_URL.replace(/\/+$/, '')}/setup#token=${token}`;
}

/** The time that this takes does not depend on the token. */
export async function isSetupToken(deps: Links, token: string): Promise<boolean> {
  if (token.length > MAX_TOKEN_LENGTH) return false;
  return (await deps.verifications.findOne(usable(deps, token))) !== null;
}

/** If two requests use the same link at once, only one gets `true`. */
export async function takeSetupToken(deps: Links, token: string): Promise<boolean> {
  return (await deps.verifications.findOneAndDelete(usable(deps, token))) !== null;
}

export async function endSetupLinks({ verifications }: Pick<Links, 'verifications'>): Promise<void> {
  await verifications.deleteMany({ value: VALUE });
}

function usable({ clock }: Pick<Links, 'clock'>, token: string) {
  return { identifier: identifierOf(token), expiresAt: { $gt: clock.now() } };
}

/** The database compares hashes, so the time of a comparison says nothing about the token. */
function identifierOf(token: string): string {
  return `setup:${hashOneTimeToken(token)}`;
}

export type FirstOperator = { token: string; email: string; name: string; password: string };

/**
 * Makes the first operator. An account that has the address already becomes the operator's and loses its password,
 * second factor, links to other sites and sessions.
 *
 * If the process dies before the link is invalidated, the link still works; if right after that, `tallyport setup-link`
 * makes another one. A lease across all processes lets only one request succeed.
 *
 * @throws {InvalidDocumentError} for an invalid address or name
 */
export async function makeFirstOperator(
  deps: AccountsDeps,
  auth: Auth,
  given: FirstOperator,
): Promise<WithId<User> | 'useless-link' | 'has-operator'> {
  // If the link does not work, no password is hashed.
  if (!(await isSetupToken(deps, given.token))) return 'useless-link';
  const context = await auth.$context;
  const hash = await context.password.hash(given.password);
  return decidingAlone(deps, async (lease) => {
    if (await hasOperator(deps)) return 'has-operator';
    if (!(await isSetupToken(deps, given.token))) return 'useless-link';
    const user = await makeAccount(deps, auth, given, hash);
    return (await promote(deps, user, given.token, lease)) ? { ...user, role: 'operator' } : 'useless-link';
  });
}

/** Not yet as an operator. An account that has the address already is taken over. */
async function makeAccount(deps: AccountsDeps, auth: Auth, { email, name }: FirstOperator, password: string) {
  const { user, isNew } = await ensureUser(deps, { email, name });
  if (!isNew) await revokeAccess(deps, user._id);
  const { internalAdapter } = await auth.$context;
  const accountId = user._id.toHexString();
  await internalAdapter.linkAccount({ userId: accountId, providerId: 'credential', accountId, password });
  return { ...user, twoFactorEnabled: false };
}

/** False if the link was used or expired meanwhile. */
async function promote(deps: AccountsDeps, { _id, email }: WithId<User>, token: string, lease: ActiveLease) {
  lease.throwIfLost();
  if (!(await takeSetupToken(deps, token))) return false;
  await deps.users.updateOne(
    { _id },
    {
      $set: { role: 'operator', suspendedAt: null, updatedAt: deps.clock.now() },
      // A suspended account could not sign in.
      $unset: { suspendedFor: '', suspensionReason: '' },
    },
  );
  await endSetupLinks(deps);
  const details = { personId: _id.toHexString(), email, with: 'setup link' };
  // Whoever has a setup link got it at the command line.
  await recordAudit(deps, { by: 'cli', action: 'person.make-operator', serverId: null, details });
  return true;
}
