import { createHash } from 'node:crypto';
import type { ObjectId } from 'mongodb';
import { DAY, HOUR } from '../platform/clock.ts';
import { byNetwork, takeAll } from '../platform/limits/by-network.ts';
import { defineLimit, limitFor } from '../platform/limits/define-limit.ts';
import type { AccountsDeps } from './deps.ts';

const MAILS = {
  what: 'Mails to an entered address',
  windowMs: HOUR,
  beyond: '429; after a sign-in to an unconfirmed account no mail',
} as const;
/** Counted over all clients and all pages, because anybody can enter an address. */
const BY_RECIPIENT = defineLimit({ ...MAILS, key: 'link:email', of: 'that address', times: 5 });
const BY_NETWORK = defineLimit({ ...MAILS, key: 'link:address', of: 'network', times: 20 });
const BY_USER = defineLimit({ ...MAILS, key: 'mail:user', of: 'signed-in user', times: 20, windowMs: DAY });
/** A mail server that sends more may be classified as a spam source. */
const BY_ALL = defineLimit({ ...MAILS, key: 'link:all', of: 'all clients together', times: 1_000 });

/** `email` was entered by somebody and may be a stranger's; `address` is the network address of the request. */
export type EnteredMail = {
  email: string;
  address: string;
  userId?: ObjectId;
};

/**
 * Every page that mails an entered address calls this: sign-up, forgotten password, sign-in to an unconfirmed account,
 * change of address, invitation. Null if the mail may be sent; otherwise the time from which the next one may be sent.
 */
export function countMail(deps: AccountsDeps, { email, address, userId }: EnteredMail) {
  return takeAll(deps, [
    ...byNetwork(BY_NETWORK, address),
    ...(userId ? [limitFor(BY_USER, userId)] : []),
    limitFor(BY_RECIPIENT, hashedAddress(email)),
    BY_ALL,
  ]);
}

/** Hashes an e-mail address, so that other text that a user types into the field by mistake is not stored. */
export function hashedAddress(email: string): string {
  return createHash('sha256').update(email.trim().toLowerCase()).digest('base64url');
}
