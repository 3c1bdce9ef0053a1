import type { WithId } from 'mongodb';
import { recordAudit } from '../../platform/audit/audit-log.ts';
import type { ActiveLease } from '../../platform/periods/work-lease.ts';
import type { Auth } from '../auth.ts';
import type { AccountsDeps } from '../deps.ts';
import type { User } from '../user.ts';
import { decidingAlone, ensureUser, revokeAccess } from '../users.ts';
import { endSetupLinks, hasOperator, isSetupToken, takeSetupToken } from './setup-link.ts';

/** What somebody with a setup link enters. */
export type FirstOperator = { token: string; email: string; name: string; password: string };

/**
 * Makes the first operator, for somebody who has a setup link. If the address has an account already, that account
 * becomes the operator's and loses its password, second factor, links to other sites and sessions.
 *
 * The last step invalidates the link and then makes the account an operator. If the process dies before this step, the
 * link still works. If it dies between these two changes, `tallyport setup-link` makes another link. Only one request
 * can succeed: there is a lease across all processes, and the link works once.
 *
 * @returns the operator, or why there is none: the link does not work, or the site has an operator
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

/** Makes the account, not yet as an operator. If the address has an account already, takes over that account. */
async function makeAccount(
  deps: AccountsDeps,
  auth: Auth,
  { email, name }: FirstOperator,
  password: string,
): Promise<WithId<User>> {
  const { user, isNew } = await ensureUser(deps, { email, name });
  if (!isNew) await revokeAccess(deps, user._id);
  const { internalAdapter } = await auth.$context;
  const accountId = user._id.toHexString();
  await internalAdapter.linkAccount({ userId: accountId, providerId: 'credential', accountId, password });
  return { ...user, twoFactorEnabled: false };
}

/** Invalidates the link and makes the account an operator. Returns false if the link was used or expired meanwhile. */
async function promote(
  deps: AccountsDeps,
  { _id, email }: WithId<User>,
  token: string,
  lease: ActiveLease,
): Promise<boolean> {
  lease.throwIfLost();
  if (!(await takeSetupToken(deps, token))) return false;
  await deps.users.updateOne(
    { _id },
    {
      $set: { role: 'operator', suspendedAt: null, updatedAt: deps.clock.now() },
      // Lifts a suspension of the account, which would prevent the new operator from signing in.
      $unset: { suspendedFor: '', suspensionReason: '' },
    },
  );
  await endSetupLinks(deps);
  await recordAudit(deps, {
    // Whoever has a setup link got it at the command line.
    by: 'cli',
    action: 'person.make-operator',
    serverId: null,
    details: { personId: _id.toHexString(), email, with: 'setup link' },
  });
  return true;
}
