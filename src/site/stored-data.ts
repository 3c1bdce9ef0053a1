import { CONFIRM_MS } from '../accounts/address/address-change.ts';
import { SESSION_MS } from '../accounts/auth.ts';
import { DELETION_DELAY_MS } from '../accounts/deletion/request-deletion.ts';
import { LINK_MS } from '../accounts/sign-up.ts';
import type { Collections } from '../database/collections.ts';
import { ATTEMPT_DETAILS_TTL_MS } from '../delivery/forget-attempts.ts';
import { EVENT_TTL_MS } from '../events/event.ts';
import { defineMessage, filled, type Text, t } from '../language/t.ts';
import { MAIL_TTL_MS } from '../mail/mail.ts';
import { COMPLAINT_TTL_MS } from '../moderation/complaint.ts';
import { DAY, SECOND } from '../platform/clock.ts';
import type { Config } from '../platform/config.ts';
import { REMINDER_TTL_MS } from '../reminders/reminder.ts';
import { UPLOAD_TTL_MS } from '../servers/picture-uploads.ts';
import { DRAFT_TTL_MS } from '../servers/server-draft.ts';
import { BLOCK_TTL_SECONDS } from '../votes/blocks/block-list.ts';
import { KEY_LIFETIME_MS } from '../votes/cast/cast-once.ts';
import { COOLDOWN_HOURS } from '../votes/cast/cooldown.ts';
import { ORIGIN_STORED_MS } from '../votes/web/vote-origin.ts';

/** MongoDB deletes documents `seconds` after the time in `field`. */
type Ttl = { field: string; seconds: number };

export type StoredData = {
  title: Text;
  data: Text;
  why: Text;
  kept: (config: Config) => string;
  ttl?: Ttl | Ttl[];
};

/** For fields that contain the time from which a document is not needed any more. */
const AT_ONCE = 0;
const MINUTE_LATER = 60;
const HOUR_LATER = 3_600;

const WITH_ACCOUNT = () =>
  t('until the account is deleted, {time} after you ask for it', {
    time: days(DELETION_DELAY_MS),
  });

/** The privacy page shows this list. A test compares it with the collections and TTL indexes of a migrated database. */
export const STORED_DATA: Record<keyof Collections, StoredData | null> = {
  users: {
    title: defineMessage('Accounts'),
    data: defineMessage(
      'Name, e-mail address, role, settings, times; the address of a Discord picture; the reason of a suspension',
    ),
    why: defineMessage('To sign in, manage servers and write reviews'),
    kept: WITH_ACCOUNT,
  },
  credentials: {
    title: defineMessage('Ways to sign in'),
    data: defineMessage('A password as a scrypt hash, or the id of an account at another site'),
    why: defineMessage('To sign in'),
    kept: WITH_ACCOUNT,
  },
  twoFactors: {
    title: defineMessage('Second factors'),
    data: defineMessage('The key of an authenticator app and backup codes, encrypted'),
    why: defineMessage('To sign in'),
    kept: () => t('until you switch the second factor off or the account is deleted'),
  },
  sessions: {
    title: defineMessage('Sessions'),
    data: defineMessage('IP address, browser, times of sign-in and last use'),
    why: defineMessage('To keep you signed in, and to show you where you are'),
    kept: () => t('{time} after the last use, or until you sign out', { time: days(SESSION_MS) }),
    ttl: { field: 'expiresAt', seconds: AT_ONCE },
  },
  verifications: {
    title: defineMessage('Links by mail'),
    data: defineMessage('E-mail address or account, a hash of the link, and the page to which it leads back'),
    why: defineMessage('To confirm an address or to set a password'),
    kept: () => days(LINK_MS),
    ttl: { field: 'expiresAt', seconds: AT_ONCE },
  },
  addressChanges: {
    title: defineMessage('Changes of an e-mail address'),
    data: defineMessage('The present and the new address'),
    why: defineMessage('To confirm the change at both addresses'),
    kept: () =>
      t('until the change is done, at most {time} without a confirmation', {
        time: days(CONFIRM_MS),
      }),
    ttl: { field: 'expiresAt', seconds: AT_ONCE },
  },
  accountDeletions: {
    title: defineMessage('Requests to delete an account'),
    data: defineMessage('Account, e-mail address, times'),
    why: defineMessage('To delete the account after a delay, in which you can cancel it'),
    kept: () =>
      t('until the account is deleted, {time} after you ask for it', {
        time: days(DELETION_DELAY_MS),
      }),
  },
  votes: {
    title: defineMessage('Votes'),
    data: defineMessage(
      'Player name, server, time, how the vote was cast and delivered, and who sent it again',
    ),
    why: filled(
      defineMessage(
        'To allow one vote in {hours} hours, to deliver votes to the server, to count them and to list the top voters',
      ),
      { hours: COOLDOWN_HOURS },
    ),
    kept: ({ KEEP_PLAYER_NAMES_MONTHS: months }) =>
      [
        t('The vote without a limit.'),
        months === 0
          ? t('The player name without a limit; the operator removes it if you ask.')
          : t('The player name for {time}.', { time: monthsOf(months) }),
        t('Details of the delivery for {time}', { time: days(ATTEMPT_DETAILS_TTL_MS) }),
      ].join(' '),
  },
  idempotencyKeys: {
    title: defineMessage('Repeated calls'),
    data: defineMessage('Player name and answer of a vote that another website or a plugin cast'),
    why: defineMessage('To count a vote once if the call is repeated'),
    kept: () => days(KEY_LIFETIME_MS),
    ttl: { field: 'expiresAt', seconds: HOUR_LATER },
  },
  voteOrigins: {
    title: defineMessage('Origins of votes on this site'),
    data: defineMessage(
      'Keyed hashes of the network (not the single IP address), of the mail address of an account, and of the player names; no plain addresses',
    ),
    why: defineMessage('To limit how many players of one network vote, and to find votes by machines'),
    kept: () => days(ORIGIN_STORED_MS),
    ttl: { field: 'expiresAt', seconds: HOUR_LATER },
  },
  returningPlayers: {
    title: defineMessage('Players who come back'),
    data: defineMessage(
      'A keyed hash of a network and a player name together, and on which days that player voted from it',
    ),
    why: defineMessage('To let more players of one network vote, such as a family or a school'),
    kept: () => t('{time} after the last vote from that network', { time: days(ORIGIN_STORED_MS) }),
    ttl: { field: 'expiresAt', seconds: HOUR_LATER },
  },
  blocks: {
    title: defineMessage('Blocked players and networks'),
    data: defineMessage(
      'A player name, a network or its keyed hash, the reason, and the e-mail address of the operator who decided',
    ),
    why: defineMessage('To keep votes of cheaters out'),
    kept: () => t('until {time} after the block has ended', { time: days(BLOCK_TTL_SECONDS * SECOND) }),
    ttl: [
      { field: 'lifted.at', seconds: BLOCK_TTL_SECONDS },
      { field: 'endsAt', seconds: BLOCK_TTL_SECONDS },
    ],
  },
  voteExclusions: {
    title: defineMessage('Excluded votes'),
    data: defineMessage(
      'The e-mail address of the operator who decided, the reason, and the player name if it is about one player; until the decision is carried out, a keyed hash of the network or mail domain whose votes are held',
    ),
    why: defineMessage('To show who took votes out of the counts'),
    kept: addresses(defineMessage('The decision without a limit')),
  },
  reviews: {
    title: defineMessage('Reviews'),
    data: defineMessage(
      'Player name, rating, text, times, the account; the e-mail addresses of who approved or answered it, which are not public',
    ),
    why: defineMessage('To show them on the page of the server after a check'),
    kept: addresses(defineMessage('Until the author deletes the review or the account')),
  },
  favourites: {
    title: defineMessage('Favourites'),
    data: defineMessage(
      'Your favourite servers, and the player name that you last voted with while signed in',
    ),
    why: defineMessage('To show your favourites and to fill in the vote form'),
    kept: WITH_ACCOUNT,
  },
  reminders: {
    title: defineMessage('Reminders of votes'),
    data: defineMessage(
      'The address of your browser at its push service and its keys, encrypted; time zone and language; the ids of your last votes; the account if you are signed in; times',
    ),
    why: defineMessage('To remind you when you can vote again, after you pressed the button for it'),
    kept: () =>
      t('until you stop the reminders, or {time} after the last vote in that browser', {
        time: days(REMINDER_TTL_MS),
      }),
    ttl: { field: 'usedAt', seconds: REMINDER_TTL_MS / SECOND },
  },
  mailReminders: {
    title: defineMessage('Reminders of votes by mail'),
    data: defineMessage('The account, the ids of your last votes, times'),
    why: defineMessage('To mail you when you can vote again, after you switched it on'),
    kept: () => t('until you switch it off, or the account is deleted'),
  },
  complaints: {
    title: defineMessage('Reports about servers'),
    data: defineMessage(
      'Reason and text; the account of a signed-in sender until it is deleted; the operator who closed the report',
    ),
    why: defineMessage('To check listed servers'),
    kept: () =>
      t('until {time} after an operator closed the report', {
        time: days(COMPLAINT_TTL_MS),
      }),
    ttl: { field: 'closedAt', seconds: COMPLAINT_TTL_MS / SECOND },
  },
  servers: {
    title: defineMessage('Servers'),
    data: defineMessage(
      'Name, host name or IP address, texts and pictures, owner, members, e-mail addresses of invited members',
    ),
    why: defineMessage('To list the server and to let its owner and members manage it'),
    kept: addresses(
      defineMessage(
        'While the server is listed. A removed server is not shown, but its record stays, so that its address on this site is never given to another one',
      ),
    ),
  },
  pictureUploads: {
    title: defineMessage('Uploaded pictures'),
    data: defineMessage(
      'The file as it came, with its metadata, until a worker has encoded it without them; the e-mail address of the sender',
    ),
    why: defineMessage('To show the banner or icon of the server'),
    kept: () => t('some seconds, at most {time}', { time: days(UPLOAD_TTL_MS) }),
    ttl: { field: 'expiresAt', seconds: AT_ONCE },
  },
  serverDrafts: {
    title: defineMessage('Servers without proof of ownership'),
    data: defineMessage('Account, name, host name or IP address of the server, results of checks'),
    why: defineMessage('To prove the ownership before the server is listed'),
    kept: () => days(DRAFT_TTL_MS),
    ttl: { field: 'createdAt', seconds: DRAFT_TTL_MS / SECOND },
  },
  apiTokens: {
    title: defineMessage('Access keys of servers'),
    data: defineMessage('Name, a hash of the key, time of the last use'),
    why: defineMessage('To let plugins and websites of the owner cast and read votes'),
    kept: () => t('as long as the record of the server'),
  },
  listeners: {
    title: defineMessage('Vote listeners'),
    data: defineMessage('Address and encrypted key of the owner’s vote listener, and its last errors'),
    why: defineMessage('To deliver votes to the server'),
    kept: () => t('until the owner removes it, else as long as the record of the server'),
  },
  subscriptions: {
    title: defineMessage('Subscriptions to events'),
    data: defineMessage(
      'Name, address and encrypted key of a website or Discord channel that the owner chose, and its last error',
    ),
    why: defineMessage('To tell the owner’s programs and channels what happens on a server'),
    kept: () => t('until the owner removes it, else as long as the record of the server'),
  },
  attemptLogs: {
    title: defineMessage('Attempts to send events'),
    data: defineMessage('Of each subscription the last ones: time, event, and the beginning of the answer'),
    why: defineMessage('To show the owner why events do not arrive'),
    kept: () => t('until {time} after the last one', { time: days(EVENT_TTL_MS) }),
    ttl: { field: 'updatedAt', seconds: EVENT_TTL_MS / SECOND },
  },
  events: {
    title: defineMessage('Events of servers'),
    data: defineMessage('What happened and when, such as a vote or an outage; without names of players'),
    why: defineMessage('To send them to the subscriptions, and once more if the owner asks'),
    kept: () => days(EVENT_TTL_MS),
    ttl: { field: 'createdAt', seconds: EVENT_TTL_MS / SECOND },
  },
  auditLog: {
    title: defineMessage('Audit log'),
    data: defineMessage(
      'E-mail addresses of who changed what and whom it concerned, the player whose waiting time was ended, and what changed',
    ),
    why: defineMessage('To find out who changed something, and to investigate misuse'),
    kept: addresses(
      defineMessage('The entry without a limit; the name of a player in it as long as in a vote'),
    ),
  },
  mails: {
    title: defineMessage('Mails to users'),
    data: defineMessage('E-mail address, subject and, until it was sent, the encrypted text'),
    why: defineMessage('To send links, warnings and notifications'),
    kept: () => days(MAIL_TTL_MS),
    ttl: { field: 'createdAt', seconds: MAIL_TTL_MS / SECOND },
  },
  liveMessages: {
    title: defineMessage('Live status in Discord'),
    data: defineMessage('The encrypted address of a Discord webhook, the id of the message, and state'),
    why: defineMessage('To edit the message'),
    kept: () => t('until an owner removes it, or the server is removed'),
  },
  rateLimits: {
    title: defineMessage('Limits'),
    data: defineMessage(
      'IP addresses or networks, accounts, hashes of e-mail addresses, and how often each did something',
    ),
    why: defineMessage('To stop guessing of passwords, floods and misuse'),
    kept: () => t('at most {time}', { time: days(DAY) }),
    ttl: { field: 'resetAt', seconds: MINUTE_LATER },
  },
  diagnosisAllowances: {
    title: defineMessage('Limits of checks'),
    data: defineMessage('Accounts that asked for a check of a server or a listener, and when'),
    why: defineMessage('To limit the connections that one account causes'),
    kept: () => t('a minute'),
    ttl: { field: 'expiresAt', seconds: MINUTE_LATER },
  },
  pushKeys: null,
  announcements: null,
  settings: null,
  logoUploads: null,
  pictures: null,
  previewCards: null,
  bannerPictures: null,
  tagLists: null,
  usedProofs: null,
  voteCounters: null,
  statusSamples: null,
  dailyStats: null,
  deliveryDays: null,
  siteFigures: null,
  periodMarks: null,
  workLeases: null,
  restores: null,
  rankSnapshots: null,
  rankedLists: null,
  listingSummary: null,
  reviewLists: null,
  sentNotifications: null,
  serverNotices: null,
  voteWatches: null,
  voteGoals: null,
  goalRounds: null,
  importMarks: null,
  migrations: null,
  runningProcesses: null,
  setUpSteps: null,
};

/** The addresses are removed after `KEEP_ADDRESSES_MONTHS`, before the record itself. */
function addresses(record: Text): StoredData['kept'] {
  return ({ KEEP_ADDRESSES_MONTHS: months }) =>
    `${t(record)}. ${
      months === 0
        ? t('E-mail addresses in it as long')
        : t('E-mail addresses in it at most {time} after that time', { time: monthsOf(months) })
    }`;
}

function days(ms: number): string {
  const count = ms / DAY;
  return t('{count, plural, one {one day} other {# days}}', { count });
}

function monthsOf(count: number): string {
  return t('{count, plural, one {one month} other {# months}}', { count });
}

/** Unlike a cookie, it is not sent with requests. */
type BrowserData = { storage: 'localStorage' | 'sessionStorage'; data: Text; kept: Text };

/** By key. The privacy page shows this list. A test compares it with the scripts. */
export const BROWSER_DATA: Record<string, BrowserData> = {
  'player-names': {
    storage: 'localStorage',
    data: defineMessage('The player name of your last vote without an account, to fill it in next time.'),
    kept: defineMessage('until you press “Not …?” beside the name, or delete the data of this site'),
  },
  'voted-servers': {
    storage: 'localStorage',
    data: defineMessage(
      'The last 12 servers that you voted for, with the name, the id of the vote and the time of the next vote, to show these times, to list the servers after a vote, and for reminders if you asked for them.',
    ),
    kept: defineMessage('a server for 30 days, or until you press “Not …?”'),
  },
  'sent-vote': {
    storage: 'sessionStorage',
    data: defineMessage(
      'That this tab has sent a vote, so that the two others are stored when it is accepted.',
    ),
    kept: defineMessage('until the vote is accepted or the tab is closed'),
  },
  'clock-lacks': {
    storage: 'localStorage',
    data: defineMessage('How far the clock of your device is from ours, to show waiting times rightly.'),
    kept: defineMessage('until you delete the data of this site'),
  },
  theme: {
    storage: 'localStorage',
    data: defineMessage('Whether you chose light or dark colours.'),
    kept: defineMessage('until you delete the data of this site'),
  },
  list: {
    storage: 'localStorage',
    data: defineMessage('Whether you chose cards or the compact list of servers.'),
    kept: defineMessage('until you delete the data of this site'),
  },
  'inbox-keys': {
    storage: 'localStorage',
    data: defineMessage('For operators: whether keys decide in the list of what needs attention.'),
    kept: defineMessage('until you delete the data of this site'),
  },
};
