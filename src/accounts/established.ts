import { after, DAY } from '../platform/clock.ts';
import { isPublicMail, mailboxOf, mailDomainOf } from './mailbox.ts';
import type { User } from './user.ts';

/** A younger account is not counted as a separate player, because anybody can make many accounts at once. */
const ESTABLISHED_AFTER_MS = 7 * DAY;
export const ESTABLISHED_AFTER_DAYS = ESTABLISHED_AFTER_MS / DAY;

export type EstablishedAccount = {
  /** See `mailboxOf`. Two accounts with the same mailbox are one player. */
  mailbox: string;
  /** The registered domain of the address; null if the domain gives an address to everybody, as mail providers do. */
  domain: string | null;
};

/**
 * Null for an account that does not count: it is younger than 7 days, its address is unconfirmed, or its address
 * changed in the last 7 days (otherwise, each change would make a new player).
 */
export function establishedAccount(
  { email, emailVerified, createdAt, emailChangedAt }: EstablishingUser,
  now: Date,
): EstablishedAccount | null {
  const since = new Date(Math.max(createdAt.getTime(), emailChangedAt?.getTime() ?? 0));
  if (!emailVerified || now < after(since, ESTABLISHED_AFTER_MS)) return null;
  const domain = mailDomainOf(email);
  return { mailbox: mailboxOf(email), domain: isPublicMail(domain) ? null : domain };
}

type EstablishingUser = Pick<User, 'email' | 'emailVerified' | 'createdAt'> & {
  emailChangedAt?: Date | null | undefined;
};
