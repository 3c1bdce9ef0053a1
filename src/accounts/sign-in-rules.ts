import { APIError, createAuthMiddleware } from 'better-auth/api';
import { ObjectId } from 'mongodb';
import { recordAudit } from '../platform/audit/audit-log.ts';
import { noteAccountChange } from './account-changes.ts';
import type { AccountsDeps } from './deps.ts';
import { otherSites } from './other-sites/other-sites.ts';
import { codeUsedError } from './second-factor.ts';
import { markCodeUsed, wasCodeUsed } from './sign-in-limits.ts';
import type { User } from './user.ts';
import { revokeAccess } from './users.ts';

/** Whether a sign-in at this path of the library includes a code of the second factor. */
export function includesCode(path: string | undefined): boolean {
  return path === '/two-factor/verify-totp' || path === '/two-factor/verify-backup-code';
}

/**
 * Decides whether another site's account may be linked to the user who has the same e-mail address. The first of these
 * cases that applies decides.
 *
 * - A suspended user: no.
 * - A user with an unconfirmed address, unless they are an operator: yes. The user's earlier password, links to other
 *   sites, second factor and sessions are deleted first.
 * - A user who must sign in with a password (`requiresPassword`): no. The link would give access as soon as the second
 *   factor is off or the user loses the operator's role.
 * - Any other user: yes.
 *
 * @returns undefined if it may be linked; otherwise the code of the error
 */
export async function refuseLinkOrRevokeAccess(
  deps: AccountsDeps,
  userId: string,
): Promise<{ error: string } | undefined> {
  const _id = new ObjectId(userId);
  const user = await deps.users.findOne({ _id });
  if (!user) return undefined;
  if (user.suspendedAt) return { error: 'SUSPENDED' };
  if (!user.emailVerified && user.role !== 'operator') {
    await recordAudit(deps, {
      by: user.email,
      action: 'account.access-revoked',
      serverId: null,
      details: { personId: userId },
    });
    await revokeAccess(deps, _id);
  } else if (requiresPassword(user)) return { error: 'PASSWORD_NEEDED' };
  return undefined;
}

/**
 * Records that another site is being linked to an account, and mails the user. Runs before the new credential is
 * stored. If the account has no credentials, it is new or `refuseLinkOrRevokeAccess` has just deleted them, and nothing
 * is recorded.
 */
export async function noteLinkedSite(
  deps: AccountsDeps,
  userId: ObjectId,
  providerId: string,
): Promise<void> {
  const site = otherSites(deps.config).find(({ id }) => id === providerId);
  if (!site || !(await deps.credentials.findOne({ userId }))) return;
  const user = await deps.users.findOne({ _id: userId });
  if (user) await noteAccountChange(deps, user, 'site-linked', site.name);
}

/**
 * Returns a hook that refuses a used code before Better Auth checks it. Better Auth would end the pending sign-in; with
 * the hook, the user can enter the next code. Better Auth still counts wrong codes.
 */
export function refuseUsedCode(deps: AccountsDeps) {
  return createAuthMiddleware(async (request) => {
    if (request.path !== '/two-factor/verify-totp') return;
    const { context } = request;
    const key = await request.getSignedCookie(context.createAuthCookie('two_factor').name, context.secret);
    const pending = key ? await context.internalAdapter.findVerificationValue(key) : null;
    if (pending && (await wasCodeUsed(deps, new ObjectId(pending.value), String(request.body.code)))) {
      throw codeUsedError();
    }
  });
}

/** Whether a user must sign in with the password. Better Auth asks for the second factor only after a password. */
export function requiresPassword({
  role,
  twoFactorEnabled,
}: Pick<User, 'role' | 'twoFactorEnabled'>): boolean {
  return role === 'operator' || Boolean(twoFactorEnabled);
}

type SessionRequest = { path: string | undefined; body: { code?: unknown } | undefined };

/** Checks that apply to each new session, for every way to sign in. Throws an APIError to refuse the session. */
export async function refuseSession(
  deps: AccountsDeps,
  userId: ObjectId,
  { path, body }: SessionRequest,
): Promise<void> {
  const user = await deps.users.findOne({ _id: userId });
  if (user?.suspendedAt) {
    throw new APIError('FORBIDDEN', { code: 'SUSPENDED', message: 'This account is suspended.' });
  }
  const byOtherSite = path?.startsWith('/callback/') ?? false;
  if (byOtherSite && user && requiresPassword(user)) {
    throw new APIError('FORBIDDEN', { code: 'PASSWORD_NEEDED', message: 'Sign in with the password.' });
  }
  if (path === '/two-factor/verify-totp' && (await markCodeUsed(deps, userId, String(body?.code)))) {
    throw codeUsedError();
  }
}
