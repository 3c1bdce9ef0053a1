import { type Clock, HOUR } from '../platform/clock.ts';
import type { Config } from '../platform/config.ts';
import type { SignedIn } from './sessions.ts';
import type { User } from './user.ts';

/** An operator signs in, with a code of the second factor, at least this often. */
const OPERATOR_SESSION_MS = 12 * HOUR;

type Rule = { config: Pick<Config, 'OPERATOR_TWO_FACTOR'>; clock: Clock };

/** Whether operators must have a second factor (`OPERATOR_TWO_FACTOR`). */
export function mustHaveSecondFactor(
  { config }: Pick<Rule, 'config'>,
  { role }: Pick<User, 'role'>,
): boolean {
  return role === 'operator' && config.OPERATOR_TWO_FACTOR === 'required';
}

/** Whether a user must have a second factor and has none. */
export function lacksSecondFactor(
  rule: Pick<Rule, 'config'>,
  user: Pick<User, 'role' | 'twoFactorEnabled'>,
): boolean {
  return mustHaveSecondFactor(rule, user) && !user.twoFactorEnabled;
}

/**
 * Whether an operator signed in during the last 12 hours. With a second factor its code counts too: a new password
 * begins a new session as well, and needs no code.
 */
export function isFreshSession({ clock }: Pick<Rule, 'clock'>, { user, session }: SignedIn): boolean {
  const proofs = user.twoFactorEnabled ? [session.createdAt, session.secondFactorAt] : [session.createdAt];
  return proofs.every((at) => at !== null && clock.now().getTime() - at.getTime() <= OPERATOR_SESSION_MS);
}

/**
 * Whether a session has an operator's rights. The role alone does not give them: an operator's session may be old, or
 * without a second factor, and still open the operator's own servers.
 */
export function mayActAsOperator(rule: Rule, signedIn: SignedIn): boolean {
  return (
    signedIn.user.role === 'operator' &&
    !lacksSecondFactor(rule, signedIn.user) &&
    isFreshSession(rule, signedIn)
  );
}
