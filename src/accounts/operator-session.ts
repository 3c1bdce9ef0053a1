import { type Clock, HOUR } from '../platform/clock.ts';
import type { Config } from '../platform/config.ts';
import type { SignedIn } from './sessions.ts';
import type { User } from './user.ts';

/** To use the admin area after this time, an operator must sign in again, with a code if they have a second factor. */
const OPERATOR_SESSION_MS = 12 * HOUR;

type Rule = { config: Pick<Config, 'OPERATOR_TWO_FACTOR'>; clock: Clock };

/** Whether a user must have a second factor: operators must if `OPERATOR_TWO_FACTOR` is `required`. */
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
 * Whether a user signed in during the last 12 hours. With a second factor, the last code must be that recent too: a
 * password change also starts a new session, but without a code.
 */
export function isFreshSession({ clock }: Pick<Rule, 'clock'>, { user, session }: SignedIn): boolean {
  const proofs = user.twoFactorEnabled ? [session.createdAt, session.secondFactorAt] : [session.createdAt];
  return proofs.every((at) => at !== null && clock.now().getTime() - at.getTime() <= OPERATOR_SESSION_MS);
}

/**
 * Whether a session has an operator's rights. The role alone is not enough: an operator's session that is old, or lacks
 * a required second factor, gives access to the operator's own servers only.
 */
export function mayActAsOperator(rule: Rule, signedIn: SignedIn): boolean {
  return (
    signedIn.user.role === 'operator' &&
    !lacksSecondFactor(rule, signedIn.user) &&
    isFreshSession(rule, signedIn)
  );
}
