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

export function includesCode(path: string | undefined): boolean {
  return path === '/two-factor/verify-totp' || path === '/two-factor/verify-backup-code';
}

/**
 * Whether another site's account may be linked to the user with the same e-mail address. If the user's address is
 * unconfirmed and they are no operator: yes, after their earlier password, links, second factor and sessions are
 * deleted. If the user must sign in with a password: no, because the link would give access as soon as the second
 * factor is off or the role is lost. Undefined if it may be linked; otherwise the code of the error.
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
    const details = { personId: userId };
    await recordAudit(deps, { by: user.email, action: 'account.access-revoked', serverId: null, details });
    await revokeAccess(deps, _id);
  } else if (requiresPassword(user)) return { error: 'PASSWORD_NEEDED' };
  return undefined;
}

/**
 * Runs before the new credential is stored. If the account has no credentials, it is new or `refuseLinkOrRevokeAccess`
 * has just deleted them, and nothing is recorded.
 */
export async function noteLinkedSite(deps: AccountsDeps, userId: ObjectId, providerId: string) {
  const site = otherSites(deps.config).find(({ id }) => id === providerId);
  if (!site || !(await deps.credentials.findOne({ userId }))) return;
  const user = await deps.users.findOne({ _id: userId });
  if (user) await noteAccountChange(deps, user, 'site-linked', site.name);
}

/**
 * Better Auth would end the pending sign-in after a used code; with this hook, the user can enter the next code. Better
 * Auth still counts wrong codes.
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

/** Better Auth asks for the second factor only after a password. */
export function requiresPassword({
  role,
  twoFactorEnabled,
}: Pick<User, 'role' | 'twoFactorEnabled'>): boolean {
  return role === 'operator' || Boolean(twoFactorEnabled);
}

type SessionRequest = { path: string | undefined; body: { code?: unknown } | undefined };

/**
 * For every way to sign in.
 *
 * @throws {APIError} to refuse the session
 */
export async function refuseSession(deps: AccountsDeps, userId: ObjectId, { path, body }: SessionRequest) {
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
