import { hostAndPort } from '../host-and-port.ts';

type Details = Record<string, unknown>;

type AuditWords = { title: string; more?: (details: Details) => string | undefined };

/** What the audit log records. The words are those of the admin area, which is in English. */
const AUDIT_ACTIONS = {
  'settings.change': { title: 'Changed settings', more: settingsText },
  'settings.undo': { title: 'Undid a change of settings', more: settingsText },
  'server.add': { title: 'Listed a server', more: ({ slug }) => text(slug) },
  'server.claim': { title: 'Claimed a server' },
  'server.edit': {
    title: 'Changed a server',
    more: (details) => Object.keys(details).map(asText).join(', '),
  },
  'server.bedrock-prefix': {
    title: 'Changed the names of players',
    more: ({ bedrockPrefix, ...others }) => [bedrockPrefix, ...Object.keys(others)].map(text).join(', '),
  },
  'server.proven-id-only': {
    title: 'Changed whether votes need a sign-in through Steam',
    more: ({ isRequired }) => text(isRequired ? 'needed' : 'not needed'),
  },
  'server.web-votes': { title: 'Switched the vote form', more: ({ isOn }) => text(isOn ? 'on' : 'off') },
  'server.how-to-vote': { title: 'Edited the text on voting' },
  'server.profile': {
    title: 'Edited a profile',
    more: ({ changed }) => (Array.isArray(changed) ? changed.map(String).map(asText).join(', ') : undefined),
  },
  'server.banner': { title: 'Uploaded a banner' },
  'server.banner-remove': { title: 'Removed a banner' },
  'server.profile-remove': {
    title: 'Removed a part of a profile',
    more: ({ part, reason }) => `${asText(String(part))}: ${text(reason)}`,
  },
  'server.import': { title: 'Imported a server' },
  'server.hide': { title: 'Hid a server', more: ({ reason }) => text(reason) },
  'server.unhide': { title: 'Unhid a server' },
  'server.accept': { title: 'Accepted a new server' },
  'server.unaccept': { title: 'Put a server back into the list of new ones' },
  'member.invite': { title: 'Invited a member', more: ({ email, role }) => `${text(email)} (${text(role)})` },
  'member.withdraw': { title: 'Withdrew an invitation', more: ({ email }) => text(email) },
  'member.join': { title: 'Became a member', more: ({ role }) => text(role) },
  'member.role': {
    title: 'Changed a member’s role',
    more: ({ role, revokedTokens }) => `${text(role)}${revokedTokensOf(revokedTokens)}`,
  },
  'member.remove': {
    title: 'Removed a member',
    more: ({ revokedTokens, tokensKept }) =>
      tokensKept ? 'tokens kept' : text(revokedTokens) && `${text(revokedTokens)} tokens revoked`,
  },
  'server.transfer': { title: 'Transferred a server', more: ({ to }) => `to ${text(to)}` },
  'server.remove': { title: 'Removed a server', more: ({ slug }) => text(slug) },
  'token.issue': { title: 'Created an API token', more: ({ name }) => text(name) },
  'token.rotate': { title: 'Rotated an API token', more: ({ name }) => text(name) },
  'token.revoke': { title: 'Revoked an API token', more: ({ name }) => text(name) },
  'listener.set': {
    title: 'Set a vote listener',
    more: ({ protocol, url, host, port }) =>
      text(protocol === 'fetch' ? 'it fetches its votes' : (url ?? hostAndPort(String(host), Number(port)))),
  },
  'listener.rewards': { title: 'Chose how votes are rewarded', more: ({ rewards }) => text(rewards) },
  'listener.rotate': { title: 'Rotated a listener’s secret' },
  'listener.pause': { title: 'Paused a listener' },
  'listener.resume': { title: 'Resumed a listener' },
  'listener.remove': { title: 'Removed a listener' },
  'discord.set': { title: 'Set a Discord webhook', more: ({ ending }) => `…${text(ending)}` },
  'discord.kinds': {
    title: 'Chose messages to Discord',
    more: ({ kinds }) => (Array.isArray(kinds) ? kinds.map(String).join(', ') || 'none' : undefined),
  },
  'discord.remove': { title: 'Removed a Discord webhook' },
  'goal.set': {
    title: 'Set a vote goal',
    more: ({ target, period, text: sentence }) =>
      [text(target), text(period), text(sentence)].filter(Boolean).join(', '),
  },
  'goal.text': { title: 'Changed the text of a vote goal', more: (details) => text(details.text) },
  'goal.remove': {
    title: 'Removed a vote goal',
    more: ({ target, period }) => `${text(target)}, ${text(period)}`,
  },
  'pause.begin': { title: 'Paused the listing', more: pauseText },
  'pause.change': { title: 'Changed the pause of the listing', more: pauseText },
  'pause.end': { title: 'Ended the pause of the listing', more: ({ from }) => `since ${text(from)}` },
  'live.set': { title: 'Set a live status in Discord', more: ({ ending }) => `…${text(ending)}` },
  'live.restart': { title: 'Started a live status in Discord again' },
  'live.remove': { title: 'Removed a live status in Discord' },
  'subscription.add': { title: 'Added a subscription to events', more: subscriptionText },
  'subscription.change': { title: 'Changed a subscription to events', more: subscriptionText },
  'subscription.rotate': { title: 'Rotated a subscription’s secret', more: subscriptionText },
  'subscription.pause': { title: 'Paused a subscription to events', more: subscriptionText },
  'subscription.resume': { title: 'Resumed a subscription to events', more: subscriptionText },
  'subscription.remove': { title: 'Removed a subscription to events', more: subscriptionText },
  'subscription.replay': { title: 'Sent an event again', more: subscriptionText },
  'vote.exclude': { title: 'Excluded votes', more: ({ reason }) => text(reason) },
  'rank.allow': {
    title: 'Allowed votes for a rank',
    more: ({ votes, reason }) => `${text(votes)} a day: ${text(reason)}`,
  },
  'rank.leave': {
    title: 'Decided about votes that wait',
    more: ({ isLeft }) => (isLeft ? 'they go on waiting' : 'undone'),
  },
  'block.add': {
    title: 'Blocked a name or network',
    more: ({ username, network }) => text(username ?? network),
  },
  'block.lift': { title: 'Lifted a block', more: ({ username, network }) => text(username ?? network) },
  'vote.release': { title: 'Lifted a quarantine' },
  'vote.include': { title: 'Undid a vote exclusion', more: ({ reason }) => text(reason) },
  'vote.forget': { title: 'Reset a player’s cooldown', more: ({ username }) => text(username) },
  'player.erase': { title: 'Erased a player’s name', more: ({ votes }) => text(votes) },
  'backup.restored': { title: 'Restored a backup', more: ({ takenAt }) => text(takenAt) },
  'vote.resend': { title: 'Resent a vote' },
  'vote.resend-range': { title: 'Resent votes', more: ({ votes }) => text(votes) },
  'review.approved': { title: 'Approved a review' },
  'review.rejected': { title: 'Rejected a review', more: ({ reason }) => text(reason) },
  'review.pending': { title: 'Undid a review decision' },
  'review.answer': { title: 'Answered a review' },
  'review.answer-removed': { title: 'Removed the answer to a review' },
  'complaint.close': { title: 'Closed a report about a server', more: ({ kind }) => text(kind) },
  'setup.close-step': { title: 'Closed a step of the set-up', more: ({ step }) => text(step) },
  'setup.open-step': { title: 'Took up a step of the set-up again', more: ({ step }) => text(step) },
  'complaint.reopen': { title: 'Reopened a report about a server', more: ({ kind }) => text(kind) },
  'person.give-link': { title: 'Created a one-time link', more: ({ email }) => text(email) },
  'person.make-operator': {
    title: 'Made a user an operator',
    more: ({ email, with: how }) => (how ? `${text(email)} (${text(how)})` : text(email)),
  },
  'person.unmake-operator': { title: 'Removed the operator role', more: ({ email }) => text(email) },
  'person.suspend': { title: 'Suspended a user', more: ({ email, reason }) => text(email ?? reason) },
  'person.lift': { title: 'Lifted a suspension', more: ({ email }) => text(email) },
  'person.email': {
    title: 'Changed a user’s e-mail address',
    more: ({ email, to }) => `${text(email)} to ${text(to)}`,
  },
  'person.confirm-address': { title: 'Confirmed an e-mail address', more: ({ email }) => text(email) },
  'person.reset-two-factor': { title: 'Reset two-factor authentication', more: ({ email }) => text(email) },
  'account.two-factor-on': { title: 'Turned on two-factor authentication' },
  'account.two-factor-off': { title: 'Turned off two-factor authentication' },
  'account.backup-codes': { title: 'Generated new backup codes' },
  'account.email': {
    title: 'Changed an e-mail address',
    more: ({ from, to }) => `${text(from)} to ${text(to)}`,
  },
  'account.delete-requested': { title: 'Asked to delete an account' },
  'account.delete-cancelled': { title: 'Kept an account' },
  'account.deleted': { title: 'Deleted an account' },
  'account.access-revoked': {
    title: 'Confirmed the address with another site; the earlier password and second factor were removed',
  },
  'account.site-linked': { title: 'Linked another site', more: ({ site }) => text(site) },
  'account.site-unlinked': { title: 'Unlinked another site', more: ({ site }) => text(site) },
  'account.password': { title: 'Set a new password' },
  'tag.add': { title: 'Added a tag', more: ({ name }) => text(name) },
  'tag.remove': { title: 'Removed a tag', more: ({ name }) => text(name) },
  'announcement.set': { title: 'Set the announcement', more: ({ level }) => text(level) },
  'announcement.clear': { title: 'Removed the announcement' },
  'queue.button': {
    title: 'Used a queue button',
    more: ({ button, queueName }) => [text(queueName), text(button)].filter(Boolean).join(': '),
  },
  'sample.history': { title: 'Wrote the history of a sample server', more: ({ name }) => text(name) },
  'sample.inbox': { title: 'Wrote what waits for an operator of the sample servers' },
  'sample.places': { title: 'Wrote the past ranks of the sample servers' },
} as const satisfies Record<string, AuditWords>;

export type AuditAction = keyof typeof AUDIT_ACTIONS;

export const ACTIONS_BY_TITLE: [action: string, title: string][] = Object.entries(AUDIT_ACTIONS)
  .map(([action, { title }]) => [action, title] as [string, string])
  .toSorted(([, one], [, other]) => one.localeCompare(other, 'en'));

/** `Hid a server: bought votes`. An unknown action is shown as its code. */
export function auditSentence({ action, details }: { action: string; details: Details }): string {
  if (!Object.hasOwn(AUDIT_ACTIONS, action)) return action;
  const { title, more }: AuditWords = AUDIT_ACTIONS[action as AuditAction];
  const rest = more?.(details);
  return rest ? `${title}: ${rest}` : title;
}

function revokedTokensOf(count: unknown): string {
  return typeof count === 'number' ? `, ${count} tokens revoked` : '';
}

function pauseText({ until, text: sentence }: Record<string, unknown>): string {
  return [until ? `until ${text(until)}` : 'without a date', text(sentence)].filter(Boolean).join(', ');
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
}

function asText(field: string): string {
  return field.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

/** `Raid bot (https://example.org/events)` */
function subscriptionText({ name, url, ending }: Details): string {
  return `${text(name)} (${text(url) ?? `Discord …${text(ending)}`})`;
}

/** The changed settings with their old and new values: `WEB_VOTES: on → off`. */
function settingsText(details: Details): string {
  const changes = Object.entries(details as Record<string, { before: string | null; after: string | null }>);
  return changes
    .map(([name, { before, after }]) => `${name}: ${before ?? 'default'} → ${after ?? 'default'}`)
    .join('; ');
}
