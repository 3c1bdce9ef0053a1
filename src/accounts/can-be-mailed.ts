import type { Config } from '../platform/config.ts';
import type { User } from './user.ts';

/** An unconfirmed address may belong to another person. */
export function canBeMailed(
  { SMTP_URL }: Pick<Config, 'SMTP_URL'>,
  { emailVerified }: Pick<User, 'emailVerified'>,
): boolean {
  return SMTP_URL !== undefined && emailVerified;
}
