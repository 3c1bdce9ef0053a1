import { CONFIRM_MS } from '../accounts/address/change-address.ts';
import { SESSION_MS } from '../accounts/auth.ts';
import { DELETION_DELAY_MS } from '../accounts/deletion/request-deletion.ts';
import { LINK_MS } from '../accounts/sign-up.ts';
import { ATTEMPT_DETAILS_TTL_MS } from '../delivery/forget-attempts.ts';
import { MAIL_TTL_MS } from '../mail/mail.ts';
import { COMPLAINT_TTL_MS } from '../moderation/complaint.ts';
import { DAY, SECOND } from '../platform/clock.ts';
import type { Config } from '../platform/config.ts';
import { DRAFT_TTL_MS } from '../servers/server-draft.ts';
import { KEY_LIFETIME_MS } from '../votes/cast-vote-once.ts';
import { ORIGIN_STORED_MS } from '../votes/web/vote-origin.ts';
import type { Collections } from './collections.ts';

/** Personal data in a collection, in words for the privacy page. */
export type StoredData = {
  title: string;
  data: string;
  why: string;
  /** How long it is stored. */
  kept: (config: Config) => string;
  /** The TTL index that deletes it: the field with a time, and the delay after that time. */
  ttl?: { field: string; seconds: number };
};

/** The delays with which MongoDB deletes documents whose own time has passed. */
const AT_ONCE = 0;
const MINUTE_LATER = 60;
const HOUR_LATER = 3_600;

const WITH_ACCOUNT = () => `until the account is deleted, ${days(DELETION_DELAY_MS)} after you ask for it`;

/**
 * Every collection with the personal data in it; null for none. The privacy page shows this list, and a test compares it
 * with the collections and TTL indexes of a migrated database.
 */
export const STORED_DATA: Record<keyof Collections, StoredData | null> = {
  users: {
    title: 'Accounts',
    data: 'Name, e-mail address, role, settings, times; the address of a Discord picture; the reason of a suspension',
    why: 'To sign in, manage servers and write reviews',
    kept: WITH_ACCOUNT,
  },
  credentials: {
    title: 'Ways to sign in',
    data: 'A password as a scrypt hash, or the id of a Discord account',
    why: 'To sign in',
    kept: WITH_ACCOUNT,
  },
  twoFactors: {
    title: 'Second factors',
    data: 'The key of an authenticator app and backup codes, encrypted',
    why: 'To sign in',
    kept: () => 'until you switch the second factor off or the account is deleted',
  },
  sessions: {
    title: 'Sessions',
    data: 'IP address, browser, times of sign-in and last use',
    why: 'To keep you signed in, and to show you where you are',
    kept: () => `${days(SESSION_MS)} after the last use, or until you sign out`,
    ttl: { field: 'expiresAt', seconds: AT_ONCE },
  },
  verifications: {
    title: 'Links by mail',
    data: 'E-mail address or account, and a hash of the link',
    why: 'To confirm an address or to set a password',
    kept: () => days(LINK_MS),
    ttl: { field: 'expiresAt', seconds: AT_ONCE },
  },
  addressChanges: {
    title: 'Changes of an e-mail address',
    data: 'The present and the new address',
    why: 'To confirm the change at both addresses',
    kept: () => `until the change is done, at most ${days(CONFIRM_MS)} without a confirmation`,
    ttl: { field: 'expiresAt', seconds: AT_ONCE },
  },
  accountDeletions: {
    title: 'Requests to delete an account',
    data: 'Account, e-mail address, times',
    why: 'To delete the account after a delay, in which you can cancel it',
    kept: () => `until the account is deleted, ${days(DELETION_DELAY_MS)} after you ask for it`,
  },
  votes: {
    title: 'Votes',
    data: 'Player name, server, time, how the vote was cast and delivered, and who sent it again',
    why: 'To allow one vote in 24 hours, to deliver votes to the server, to count them and to list the top voters',
    kept: ({ KEEP_PLAYER_NAMES_MONTHS: months }) =>
      `The vote without a limit. The player name ${months === 0 ? 'without a limit; the operator removes it if you ask' : `for ${monthsOf(months)}`}. Details of the delivery for ${days(ATTEMPT_DETAILS_TTL_MS)}`,
  },
  idempotencyKeys: {
    title: 'Repeated calls',
    data: 'Player name and answer of a vote that another website or a plugin cast',
    why: 'To count a vote once if the call is repeated',
    kept: () => days(KEY_LIFETIME_MS),
    ttl: { field: 'expiresAt', seconds: HOUR_LATER },
  },
  voteOrigins: {
    title: 'Origins of votes on this site',
    data: 'Keyed hashes of the network (not the single IP address) or of the account, and of the player names; no plain addresses',
    why: 'To limit how many players of one network vote, and to find votes by machines',
    kept: () => days(ORIGIN_STORED_MS),
    ttl: { field: 'expiresAt', seconds: HOUR_LATER },
  },
  voteExclusions: {
    title: 'Excluded votes',
    data: 'The e-mail address of the operator who decided, and the reason',
    why: 'To show who took votes out of the counts',
    kept: addresses('The decision without a limit'),
  },
  reviews: {
    title: 'Reviews',
    data: 'Player name, rating, text, times, the account; the e-mail addresses of who approved or answered it, which are not public',
    why: 'To show them on the page of the server after a check',
    kept: addresses('Until the author deletes the review or the account'),
  },
  favourites: {
    title: 'Favourites',
    data: 'Your favourite servers, and the player name that you last voted with while signed in',
    why: 'To show your favourites and to fill in the vote form',
    kept: WITH_ACCOUNT,
  },
  complaints: {
    title: 'Reports about servers',
    data: 'Reason and text; the account of a signed-in sender until it is deleted; the operator who closed the report',
    why: 'To check listed servers',
    kept: () => `until ${days(COMPLAINT_TTL_MS)} after an operator closed the report`,
    ttl: { field: 'closedAt', seconds: COMPLAINT_TTL_MS / SECOND },
  },
  servers: {
    title: 'Servers',
    data: 'Name, host name or IP address, texts and pictures, owner, members, e-mail addresses of invited members',
    why: 'To list the server and to let its owner and members manage it',
    kept: addresses(
      'While the server is listed. A removed server is not shown, but its record stays, so that its address on this site is never given to another one',
    ),
  },
  serverDrafts: {
    title: 'Servers without proof of ownership',
    data: 'Account, name, host name or IP address of the server, results of checks',
    why: 'To prove the ownership before the server is listed',
    kept: () => days(DRAFT_TTL_MS),
    ttl: { field: 'createdAt', seconds: DRAFT_TTL_MS / SECOND },
  },
  apiTokens: {
    title: 'Access keys of servers',
    data: 'Name, a hash of the key, time of the last use',
    why: 'To let plugins and websites of the owner cast and read votes',
    kept: () => 'as long as the record of the server',
  },
  listeners: {
    title: 'Vote listeners',
    data: 'Address and encrypted key of the owner’s vote listener, and its last errors',
    why: 'To deliver votes to the server',
    kept: () => 'until the owner removes it, else as long as the record of the server',
  },
  auditLog: {
    title: 'Audit log',
    data: 'E-mail addresses of who changed what and whom it concerned, the player whose waiting time was ended, and what changed',
    why: 'To find out who changed something, and to investigate misuse',
    kept: addresses('The entry without a limit; the name of a player in it as long as in a vote'),
  },
  mails: {
    title: 'Mails to users',
    data: 'E-mail address, subject and, until it was sent, the encrypted text',
    why: 'To send links, warnings and notifications',
    kept: () => days(MAIL_TTL_MS),
    ttl: { field: 'createdAt', seconds: MAIL_TTL_MS / SECOND },
  },
  rateLimits: {
    title: 'Limits',
    data: 'IP addresses or networks, accounts, hashes of e-mail addresses, and how often each did something',
    why: 'To stop guessing of passwords, floods and misuse',
    kept: () => `at most ${days(DAY)}`,
    ttl: { field: 'resetAt', seconds: MINUTE_LATER },
  },
  diagnosisAllowances: {
    title: 'Limits of checks',
    data: 'Accounts that asked for a check of a server or a listener, and when',
    why: 'To limit the connections that one account causes',
    kept: () => 'a minute',
    ttl: { field: 'expiresAt', seconds: MINUTE_LATER },
  },
  announcements: null,
  pictures: null,
  tagLists: null,
  usedProofs: null,
  voteCounters: null,
  statusSamples: null,
  dailyStats: null,
  periodMarks: null,
  workLeases: null,
  rankSnapshots: null,
  rankedLists: null,
  listingSummary: null,
  reviewLists: null,
  sentNotifications: null,
  migrations: null,
};

/** The record stays, and the e-mail addresses in it as long as `KEEP_ADDRESSES_MONTHS` says. */
function addresses(record: string): StoredData['kept'] {
  return ({ KEEP_ADDRESSES_MONTHS: months }) =>
    `${record}. E-mail addresses in it ${months === 0 ? 'as long' : `at most ${monthsOf(months)} after that time`}`;
}

function days(ms: number): string {
  const count = ms / DAY;
  return count === 1 ? 'one day' : `${count} days`;
}

function monthsOf(count: number): string {
  return count === 1 ? 'one month' : `${count} months`;
}
