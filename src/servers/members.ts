import type { ObjectId, WithId } from 'mongodb';
import { z } from 'zod';
import { addressSchema } from '../accounts/address/change-address.ts';
import { inLanguageOfUser } from '../accounts/mail-language.ts';
import { countMail, hashedAddress } from '../accounts/mail-limits.ts';
import { type MailText, signed } from '../accounts/mail-text.ts';
import type { User } from '../accounts/user.ts';
import { defineMessage, t } from '../language/t.ts';
import { putMail } from '../mail/outbox.ts';
import { recordAudit } from '../platform/audit/audit-log.ts';
import { after, DAY } from '../platform/clock.ts';
import { InvalidDocumentError } from '../platform/document.ts';
import { parseInput } from '../platform/input.ts';
import { countUse } from '../platform/limits/by-network.ts';
import { defineLimit } from '../platform/limits/define-limit.ts';
import { dayOf } from '../platform/periods/period-marks.ts';
import { AN_OPERATOR, actorNames } from './actor-names.ts';
import type { TokenMaker } from './api-token.ts';
import { handOverTokens, revokeTokens } from './api-tokens.ts';
import type { ServersDeps } from './deps.ts';
import { roleOf } from './ownership.ts';
import { MEMBER_ROLES, type MemberRole, type Server } from './server.ts';

export const MOST_MEMBERS = 20;

const INVITATION_MS = 14 * DAY;

export const INVITATIONS = defineLimit({
  key: 'invite',
  what: 'Invitations of members',
  of: 'user, for all servers',
  times: 20,
  windowMs: DAY,
  sentence: defineMessage('Too many invitations by you, to this address or from your network.'),
});

const invitation = z.object({
  email: addressSchema,
  role: z.enum(MEMBER_ROLES, { error: () => t('choose one of these') }),
});

/**
 * A user who has confirmed this address accepts in the dashboard; the mail contains no secret. A second invitation of
 * the same address replaces the first one. An address gets one mail a day from a user.
 *
 * @param by - the user who invites, and the network address of the request
 * @returns null, or when to try again if a limit is reached (`INVITATIONS`, or one of `countMail`)
 * @throws {InvalidDocumentError} for the address or the role, and when the server has `MOST_MEMBERS`
 */
export async function inviteMember(
  deps: ServersDeps,
  server: WithId<Server>,
  input: { email: string; role: string },
  by: Pick<User, '_id' | 'email'> & { address: string },
): Promise<Date | null> {
  const { email, role } = parseInput(invitation, { ...input, email: input.email.trim() });
  const user = await deps.users.findOne({ email });
  if (user && roleOf(server, user._id))
    throw new InvalidDocumentError({ email: t('this user has a role already') });
  const retryAt = await countUse(deps, INVITATIONS, by._id);
  if (retryAt) return retryAt;
  const now = deps.clock.now();
  const mailId = `invitation:${by._id.toHexString()}:${dayOf(now)}:${hashedAddress(email)}`;
  const isMailed = !deps.config.SMTP_URL || (await deps.mails.findOne({ _id: mailId })) !== null;
  const mailAt = isMailed ? null : await countMail(deps, { email, address: by.address, userId: by._id });
  if (mailAt) return mailAt;
  // An operator who invites to somebody else's server is not named.
  const isMember = roleOf(server, by._id) !== null;
  const sender = isMember ? by.email : AN_OPERATOR;
  const entry = { email, role, by: sender, ...(isMember ? { byId: by._id } : {}), at: now };
  const others = { $filter: { input: invitationsIn, cond: { $ne: ['$$this.email', email] } } };
  const count = { $add: [{ $size: { $ifNull: ['$members', []] } }, { $size: others }] };
  const { matchedCount } = await deps.servers.updateOne(
    { _id: server._id, removedAt: null, $expr: { $lt: [count, MOST_MEMBERS] } },
    [{ $set: { invitations: { $concatArrays: [others, [{ $literal: entry }]] } } }],
  );
  if (matchedCount === 0)
    throw new InvalidDocumentError({
      email: t('a server has at most {most} members and invitations', { most: MOST_MEMBERS }),
    });
  const details = { email, role };
  await recordAudit(deps, { by: by.email, action: 'member.invite', serverId: server._id, details });
  const text = () => invitationText(deps.config, sender);
  const mail = user ? inLanguageOfUser(deps.config, user, text) : text();
  if (!isMailed) await putMail(deps, { id: mailId, to: email, ...mail });
  return null;
}

const invitationsIn = { $ifNull: ['$invitations', []] };

/** The mail does not name the server: anybody could send their own text to strangers in the listing's name. */
function invitationText(config: ServersDeps['config'], by: string): MailText {
  const { PUBLIC_URL: url, SERVICE_NAME: listing } = config;
  return {
    subject: t('You are invited to manage a game server at {listing}', { listing }),
    text: signed(
      config,
      t(
        '{sender} invites you to manage a game server at {listing}. Sign in, or sign up, with this address to accept or decline:',
        { sender: by === AN_OPERATOR ? t('An operator') : by, listing },
      ),
      `${url}/dashboard`,
      t('The invitation is valid for {days} days. If you do not know the sender, there is nothing to do.', {
        days: INVITATION_MS / DAY,
      }),
    ),
  };
}

type Invitee = Pick<User, '_id' | 'email' | 'emailVerified'>;

/** None if the user's address is unconfirmed, because it may be somebody else's. */
export async function invitationsOf(deps: ServersDeps, { email, emailVerified }: Invitee) {
  const { servers, clock } = deps;
  if (!emailVerified) return [];
  const found = await servers
    .find({ 'invitations.email': email, removedAt: null })
    .limit(MOST_MEMBERS)
    .toArray();
  const open = found.flatMap((server) => {
    const own = openInvitations(server, clock.now()).find((one) => one.email === email);
    return own ? [{ server, role: own.role, actor: own }] : [];
  });
  return Promise.all(
    open.map(async ({ actor, ...one }) => {
      if (actor.by === AN_OPERATOR) return { ...one, by: actor.by };
      // An older version stored the operator's address, which members must not see.
      const nameOf = await actorNames(deps, one.server, [actor]);
      return { ...one, by: nameOf(actor) };
    }),
  );
}

export function openInvitations({ invitations }: Pick<Server, 'invitations'>, now: Date) {
  return (invitations ?? []).filter(({ at }) => after(at, INVITATION_MS) > now);
}

/**
 * @returns the server; null when the user has no open invitation (as after the first call), owns the server, or has not
 *   confirmed the address, and when the server was removed
 */
export async function acceptInvitation(deps: ServersDeps, serverId: ObjectId, user: Invitee) {
  if (!user.emailVerified) return null;
  const now = deps.clock.now();
  const open = { email: user.email, at: { $gt: after(now, -INVITATION_MS) } };
  const own = { $filter: { input: invitationsIn, cond: { $eq: ['$$this.email', user.email] } } };
  const member = { userId: user._id, role: { $first: { $map: { input: own, in: '$$this.role' } } }, at: now };
  const members = { $ifNull: ['$members', []] };
  const otherMembers = { $filter: { input: members, cond: { $ne: ['$$this.userId', user._id] } } };
  const server = await deps.servers.findOneAndUpdate(
    { _id: serverId, removedAt: null, ownerId: { $ne: user._id }, invitations: { $elemMatch: open } },
    [
      {
        $set: {
          members: { $concatArrays: [otherMembers, [member]] },
          invitations: { $filter: { input: invitationsIn, cond: { $ne: ['$$this.email', user.email] } } },
        },
      },
    ],
    { returnDocument: 'after' },
  );
  if (!server) return null;
  const role = roleOf(server, user._id);
  await recordAudit(deps, { by: user.email, action: 'member.join', serverId, details: { role } });
  return server;
}

/** The user declines, or somebody withdraws it. Returns whether there was one. */
export async function withdrawInvitation(deps: ServersDeps, serverId: ObjectId, email: string, by: string) {
  const { modifiedCount } = await deps.servers.updateOne(
    { _id: serverId, 'invitations.email': email },
    { $pull: { invitations: { email } } },
  );
  if (modifiedCount === 0) return false;
  await recordAudit(deps, { by, action: 'member.withdraw', serverId, details: { email } });
  return true;
}

/** The servers of which the user is owner or member, by name. */
export function serversOfUser({ servers }: ServersDeps, userId: ObjectId): Promise<WithId<Server>[]> {
  return servers.find(ofUser(userId)).sort({ name: 1 }).toArray();
}

export async function hasServers({ servers }: ServersDeps, userId: ObjectId): Promise<boolean> {
  return (await servers.findOne(ofUser(userId), { projection: { _id: 1 } })) !== null;
}

const ofUser = (userId: ObjectId) => ({
  $or: [{ ownerId: userId }, { 'members.userId': userId }],
  removedAt: null,
});

/** If a member becomes read-only, the tokens that they created are revoked. Returns whether there is such a member. */
export async function changeRole(
  deps: ServersDeps,
  serverId: ObjectId,
  userId: ObjectId,
  role: MemberRole,
  by: string,
): Promise<boolean> {
  const { matchedCount } = await deps.servers.updateOne(
    { _id: serverId, 'members.userId': userId },
    { $set: { 'members.$.role': role } },
  );
  if (matchedCount === 0) return false;
  const revokedTokens = role === 'read' ? await revokeTokens(deps, serverId, { issuedBy: userId }) : 0;
  const details = { userId: userId.toHexString(), role, ...(revokedTokens > 0 ? { revokedTokens } : {}) };
  await recordAudit(deps, { by, action: 'member.role', serverId, details });
  return true;
}

/**
 * Removes a member (who may be the caller). `keepFor` gets the tokens that they created; without it, these are revoked.
 * Null when there was no such member.
 */
export async function removeMember(
  deps: ServersDeps,
  serverId: ObjectId,
  userId: ObjectId,
  by: string,
  keepFor?: TokenMaker,
): Promise<{ revokedTokens: number } | null> {
  if (!(await deps.servers.findOne({ _id: serverId, 'members.userId': userId }))) return null;
  // First, so that another call can still remove the member if the process dies after this.
  if (keepFor) await handOverTokens(deps, serverId, { from: userId, to: keepFor });
  const before = await revokeTokens(deps, serverId, { issuedBy: userId });
  const { modifiedCount } = await deps.servers.updateOne(
    { _id: serverId, 'members.userId': userId },
    { $pull: { members: { userId } } },
  );
  // The member may have created another token in the meantime.
  const revokedTokens = before + (await revokeTokens(deps, serverId, { issuedBy: userId }));
  if (modifiedCount === 0) return null;
  const details = {
    userId: userId.toHexString(),
    ...(revokedTokens > 0 ? { revokedTokens } : {}),
    ...(keepFor ? { tokensKept: true } : {}),
  };
  await recordAudit(deps, { by, action: 'member.remove', serverId, details });
  return { revokedTokens };
}

/**
 * If this revokes tokens, the owner gets a mail, because plugins may use them. No mail is sent without `SMTP_URL` or to
 * an unconfirmed address.
 */
export async function leaveServer(
  deps: ServersDeps,
  serverId: ObjectId,
  member: Pick<User, '_id' | 'email'>,
): Promise<void> {
  const left = await removeMember(deps, serverId, member._id, member.email);
  if (!left || left.revokedTokens === 0 || !deps.config.SMTP_URL) return;
  const server = await deps.servers.findOne({ _id: serverId });
  const owner = server?.ownerId ? await deps.users.findOne({ _id: server.ownerId }) : null;
  if (!server || !owner?.emailVerified) return;
  const text = inLanguageOfUser(deps.config, owner, () =>
    leftText(deps.config, server.name, { by: member.email, serverId, ...left }),
  );
  await putMail(deps, { to: owner.email, serverId, ...text });
}

type Left = { by: string; serverId: ObjectId; revokedTokens: number };

function leftText(
  { PUBLIC_URL: url, SERVICE_NAME: site }: ServersDeps['config'],
  name: string,
  { by, serverId, revokedTokens }: Left,
) {
  return {
    subject: t('{name}: a member left, and their tokens are revoked', { name }),
    text: [
      t(
        '{by} no longer manages {name}. {tokens, plural, one {One API token} other {# API tokens}} that they made for it are refused from now on. If a plugin or website uses one of them, give it a new one:',
        { by, name, tokens: revokedTokens },
      ),
      `${url}/dashboard/servers/${serverId.toHexString()}/tokens`,
      `-- \n${site}, ${url}\n${t('You get this mail because you own this server.')}`,
    ].join('\n\n'),
  };
}
