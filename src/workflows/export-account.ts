import type { ObjectId, WithId } from 'mongodb';
import type { SignInSession, User } from '../accounts/user.ts';
import { readLiveMessage } from '../events/live-status/live-messages.ts';
import type { GoalRound, VoteGoal } from '../goals/goal.ts';
import { lastRounds } from '../goals/goal-rounds.ts';
import { defineMessage, filled } from '../language/t.ts';
import type { Listener } from '../listeners/listener.ts';
import type { Complaint } from '../moderation/complaint.ts';
import type { AuditEntry } from '../platform/audit/audit-log.ts';
import { HOUR } from '../platform/clock.ts';
import { hostAndPort } from '../platform/host-and-port.ts';
import { defineLimit } from '../platform/limits/define-limit.ts';
import { mailReminderRecord } from '../reminders/keep-mail-reminder.ts';
import { reminderRecord } from '../reminders/keep-reminder.ts';
import { ofUser } from '../reminders/reminder.ts';
import type { Review } from '../reviews/review.ts';
import { kindOf, scopesOf } from '../servers/api-token.ts';
import { roleOf } from '../servers/ownership.ts';
import type { Server } from '../servers/server.ts';
import type { ServerDraft } from '../servers/server-draft.ts';
import type { WorkflowsDeps } from './deps.ts';

const EXPORTS_AN_HOUR = 3;
export const EXPORTS = defineLimit({
  key: 'export',
  what: 'Exports of the user’s data',
  of: 'user',
  times: EXPORTS_AN_HOUR,
  windowMs: HOUR,
  sentence: filled(defineMessage('You can export your data {times} times in an hour.'), {
    times: EXPORTS_AN_HOUR,
  }),
});

/** If a list has more, the export names it in `truncated`. */
export const MOST_EXPORTED = {
  sessions: 1_000,
  servers: 1_000,
  tokens: 200,
  goal_rounds: 1_000,
  memberships: 1_000,
  drafts: 100,
  reviews: 5_000,
  complaints: 1_000,
  reminders: 100,
  audit_log: 10_000,
};

/** Sent while it is read, so memory does not grow with the data. No field is a password, hash, token, key or secret. */
export async function* exportAccount(deps: WorkflowsDeps, user: WithId<User>): AsyncGenerator<string> {
  const userId = user._id;
  const truncated: string[] = [];
  /** `,"reviews":[…]`, with one record in each line. */
  async function* list<T>(
    name: keyof typeof MOST_EXPORTED,
    rows: AsyncIterable<T>,
    record: (row: T) => object | Promise<object>,
  ): AsyncGenerator<string> {
    let written = 0;
    yield `,"${name}":[`;
    for await (const row of rows) {
      if (written === MOST_EXPORTED[name]) {
        truncated.push(name);
        break;
      }
      yield `${written > 0 ? ',' : ''}\n${JSON.stringify(await record(row))}`;
      written += 1;
    }
    yield ']';
  }
  const upTo = (name: keyof typeof MOST_EXPORTED) => ({ limit: MOST_EXPORTED[name] + 1 });

  yield `{"exported_at":${JSON.stringify(deps.clock.now())},"account":${JSON.stringify(await accountOf(deps, user))}`;
  yield* list('sessions', deps.sessions.find({ userId }, upTo('sessions')), sessionRecord);
  yield* list('servers', deps.servers.find({ ownerId: userId }, upTo('servers')), async (server) => ({
    ...serverRecord(server),
    ...(await connectionsOf(deps, server._id, truncated)),
    ...(await goalsOf(deps, server._id, truncated)),
  }));
  const joined = deps.servers.find({ 'members.userId': userId, removedAt: null }, upTo('memberships'));
  yield* list('memberships', joined, (server) => membershipRecord(server, userId));
  const drafts = deps.serverDrafts.find({ ownerId: userId, slot: { $gte: 0 } }, upTo('drafts'));
  yield* list('drafts', drafts, draftRecord);
  yield* list('reviews', deps.reviews.find({ personId: userId }, upTo('reviews')), reviewRecord);
  yield* list('complaints', deps.complaints.find({ userId }, upTo('complaints')), complaintRecord);
  yield* list('reminders', deps.reminders.find(ofUser(userId), upTo('reminders')), reminderRecord);
  const byMail = await deps.mailReminders.findOne({ _id: userId });
  yield `,"reminder_by_mail":${JSON.stringify(byMail && mailReminderRecord(byMail))}`;
  const favourites = await deps.favourites.findOne({ _id: userId });
  yield `,"favourites":${JSON.stringify(favourites?.entries?.map(({ serverId, at }) => ({ server_id: serverId, at })) ?? [])}`;
  yield `,"last_player_name":${JSON.stringify(favourites?.username ?? null)}`;
  // Another user may have had this address before, so only entries since this user got it are exported.
  const own = { by: user.email, at: { $gte: user.emailChangedAt ?? user.createdAt } };
  const entries = deps.auditLog.find(own, upTo('audit_log')).sort({ at: -1, _id: -1 });
  yield* list('audit_log', entries, auditRecord);
  yield `,"truncated":${JSON.stringify(truncated)}}\n`;
}

async function accountOf(deps: WorkflowsDeps, user: WithId<User>): Promise<object> {
  const { _id } = user;
  const [credentials, change, deletion] = await Promise.all([
    deps.credentials.find({ userId: _id }, { projection: { providerId: 1 } }).toArray(),
    deps.addressChanges.findOne({ _id }),
    deps.accountDeletions.findOne({ _id }),
  ]);
  return {
    id: _id,
    name: user.name,
    email: user.email,
    email_confirmed: user.emailVerified,
    role: user.role,
    created_at: user.createdAt,
    wants_mail: user.wantsMail ?? true,
    mail_off: user.mailOff ?? [],
    two_factor: user.twoFactorEnabled ?? false,
    signs_in_with: credentials.map(({ providerId }) =>
      providerId === 'credential' ? 'password' : providerId,
    ),
    email_change: change && { to: change.to, requested_at: change.requestedAt },
    deletion: deletion && { requested_at: deletion.requestedAt, due_at: deletion.dueAt },
  };
}

function sessionRecord({ createdAt, updatedAt, expiresAt, ipAddress, userAgent }: SignInSession): object {
  return {
    created_at: createdAt,
    used_at: updatedAt,
    expires_at: expiresAt,
    ip_address: ipAddress ?? null,
    user_agent: userAgent ?? null,
  };
}

function serverRecord(server: WithId<Server>): object {
  return {
    id: server._id,
    name: server.name,
    slugs: server.slugs,
    address: server.address,
    port: server.port,
    query_port: server.queryPort ?? null,
    game: server.game ?? null,
    ...(server.second ? { second_address: server.second.address, second_port: server.second.port } : {}),
    country_code: server.countryCode ?? null,
    how_to_vote: server.howToVote ?? null,
    profile: profileRecord(server.profile),
    web_votes: server.webVotes ?? true,
    proven_id_only: server.provenIdOnly ?? false,
    bedrock_prefix: server.bedrockPrefix ?? null,
    bedrock_without_prefix: server.playerNames?.bedrockPlain ?? false,
    bedrock_spaces: server.playerNames?.bedrockSpaces ?? false,
    offline_mode: server.playerNames?.offlineMode ?? false,
    pause: server.listingPause ?? null,
    earlier_pauses: server.earlierPauses?.map(({ from, until }) => ({ from, until })) ?? [],
    listed_at: server.listedAt,
    hidden_at: server.hiddenAt ?? null,
    removed_at: server.removedAt ?? null,
    members: server.members?.map(({ role, at }) => ({ role, at })) ?? [],
    invitations: server.invitations?.map(({ email, role, at }) => ({ email, role, at })) ?? [],
  };
}

function profileRecord(profile: Server['profile']): object | null {
  if (!profile) return null;
  const { shortText, description, tags, languages, website, discord, store, rules, video, banner } = profile;
  const links = { website, discord, store, rules, video };
  return { short_text: shortText, description, tags, languages, ...links, banner: banner?.wide ?? null };
}

/** Tokens and listener without their secrets. */
async function connectionsOf(deps: WorkflowsDeps, serverId: ObjectId, truncated: string[]): Promise<object> {
  const [tokens, listener, subscriptions, live] = await Promise.all([
    deps.apiTokens.find({ serverId }, { limit: MOST_EXPORTED.tokens + 1 }).toArray(),
    deps.listeners.findOne({ serverId }),
    deps.subscriptions.find({ serverId }).toArray(),
    readLiveMessage(deps, serverId),
  ]);
  noteTruncated(truncated, 'tokens', tokens);
  return {
    tokens: tokens.slice(0, MOST_EXPORTED.tokens).map((token) => ({
      name: token.name,
      kind: kindOf(token),
      scopes: kindOf(token) === 'api' ? scopesOf(token) : [],
      created_at: token.createdAt,
      expires_at: token.expiresAt ?? null,
      revoked_at: token.revokedAt ?? null,
      last_used_at: token.lastUsedAt ?? null,
    })),
    listener: listener && { protocol: listener.protocol, address: addressOf(listener) },
    subscriptions: subscriptions.map(({ name, type, kinds, url, createdAt }) => ({
      name,
      type,
      kinds,
      address: url ? new URL(url).origin : null,
      created_at: createdAt,
    })),
    live_status: live && { set_at: live.setAt, edited_at: live.editedAt ?? null },
  };
}

async function goalsOf(deps: WorkflowsDeps, serverId: ObjectId, truncated: string[]): Promise<object> {
  const [goal, rounds] = await Promise.all([
    deps.voteGoals.findOne({ serverId }),
    lastRounds(deps, serverId, MOST_EXPORTED.goal_rounds + 1),
  ]);
  noteTruncated(truncated, 'goal_rounds', rounds);
  return {
    vote_goal: goal && goalRecord(goal),
    goal_rounds: rounds.slice(0, MOST_EXPORTED.goal_rounds).map(roundRecord),
  };
}

function goalRecord({ goalId, target, period, text, since, reached }: VoteGoal): object {
  return { id: goalId, target, period, text: text ?? null, since, times_reached: reached };
}

function roundRecord({ goalId, round, target, period, text, votes, at }: GoalRound): object {
  return { goal_id: goalId, round, target, period, text: text ?? null, votes, reached_at: at };
}

function noteTruncated(truncated: string[], name: keyof typeof MOST_EXPORTED, rows: unknown[]): void {
  if (rows.length > MOST_EXPORTED[name] && !truncated.includes(name)) truncated.push(name);
}

/** A URL loses its path and query, which may contain a secret. null: the votes are fetched. */
function addressOf({ url, host, port }: Pick<Listener, 'url' | 'host' | 'port'>): string | null {
  if (url) return new URL(url).origin;
  return host ? hostAndPort(host, port) : null;
}

function membershipRecord(server: WithId<Server>, userId: ObjectId): object {
  return { server_id: server._id, server_name: server.name, role: roleOf(server, userId) };
}

function draftRecord({ name, address, port, game, createdAt, ...draft }: ServerDraft): object {
  const second = draft.secondAddress
    ? { second_address: draft.secondAddress, second_port: draft.secondPort }
    : {};
  return { name, address, port, game: game ?? null, ...second, created_at: createdAt };
}

function reviewRecord(review: WithId<Review>): object {
  return {
    id: review._id,
    server_id: review.serverId,
    username: review.username,
    rating: review.rating,
    content: review.content ?? null,
    state: review.state,
    created_at: review.createdAt,
    edited_at: review.editedAt ?? null,
    answer: review.answer ? { text: review.answer.text, at: review.answer.at } : null,
  };
}

function complaintRecord({ serverId, kind, text, at }: Complaint): object {
  return { server_id: serverId, kind, text: text ?? null, at };
}

function auditRecord({ at, action, serverId, details }: AuditEntry): object {
  return { at, action, server_id: serverId ?? null, details };
}
