import { ObjectId } from 'mongodb';
import { describe, expect, it } from 'vitest';
import { DAY } from '../../src/platform/clock.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { issueToken, listTokens } from '../../src/servers/api-tokens.ts';
import { addServer } from '../../src/servers/listed-servers.ts';
import {
  changeRole,
  invitationsOf,
  inviteMember,
  MOST_MEMBERS,
  removeMember,
  serversOfUser,
  withdrawInvitation,
} from '../../src/servers/members.ts';
import { roleOf } from '../../src/servers/ownership.ts';
import { joinServer } from '../../src/workflows/join-server.ts';
import { transferServer } from '../../src/workflows/transfer-server.ts';
import { type SignedInUser, signIn } from '../support/sign-in.ts';
import { stoppedClock } from '../support/stopped-clock.ts';
import { testDeps } from '../support/test-deps.ts';

async function owned(settings: Record<string, string> = {}) {
  const clock = stoppedClock();
  const deps = { ...(await testDeps(settings)), clock };
  const owner = await signIn({ deps });
  const added = await addServer(deps, { name: 'Alpha', address: 'play.example.org', port: 25_565 }, 'test');
  const serverId = new ObjectId(added.serverId);
  await deps.servers.updateOne({ _id: serverId }, { $set: { ownerId: owner.userId } });
  const server = async () => {
    const found = await deps.servers.findOne({ _id: serverId });
    if (!found) throw new Error('no server');
    return found;
  };
  const invite = async (email: string, role = 'full', from = owner.email) =>
    inviteMember(
      deps,
      await server(),
      { email, role },
      { _id: owner.userId, email: from, address: '192.0.2.7' },
    );
  return { deps, clock, owner, serverId, server, invite };
}

const WITH_MAIL = { SMTP_URL: 'smtp://127.0.0.1:1', MAIL_FROM: 'votes@example.org' };

/** The texts of the mails, the oldest first. */
async function mailTexts({ mails, secrets }: AppDeps): Promise<string[]> {
  const found = await mails.find().sort({ createdAt: 1 }).toArray();
  return found.map(({ _id, sealedText }) => secrets.open(sealedText ?? '', `mail ${_id}`));
}

const userOf = ({ userId, email }: SignedInUser) => ({ _id: userId, email, emailVerified: true });

describe('an invitation', () => {
  it.each(['a/b@example.org', 'ivan@пример.рф'])('may go to %s', async (email) => {
    const { invite, server } = await owned(WITH_MAIL);
    await invite(email);
    expect((await server()).invitations).toMatchObject([
      { email: email.replace('пример.рф', 'xn--e1afmkfd.xn--p1ai') },
    ]);
  });

  it('names the user who invited by the present address, and nobody who lost access', async () => {
    const { deps, owner, invite, server, serverId } = await owned();
    const mia = await signIn({ deps }, { email: 'mia@example.org' });
    await invite('mia@example.org');
    await deps.users.updateOne({ _id: owner.userId }, { $set: { email: 'new@example.org' } });
    expect(await invitationsOf(deps, userOf(mia))).toMatchObject([{ by: 'new@example.org' }]);
    // Somebody else may have the old address now.
    await signIn({ deps }, { email: owner.email });
    expect(await invitationsOf(deps, userOf(mia))).toMatchObject([{ by: 'new@example.org' }]);
    await deps.servers.updateOne({ _id: serverId }, { $unset: { ownerId: '' } });
    expect(await invitationsOf(deps, userOf(mia))).toMatchObject([
      { by: 'somebody without access to this server' },
    ]);
    // An invitation of an older version has only the address.
    await deps.servers.updateOne({ _id: serverId }, { $unset: { 'invitations.0.byId': '' } });
    expect((await server()).invitations).toMatchObject([{ by: owner.email }]);
    expect(await invitationsOf(deps, userOf(mia))).toMatchObject([
      { by: 'somebody without access to this server' },
    ]);
  });

  it('sent again after the inviter changed the address names the new one, also in its mail', async () => {
    const { deps, clock, owner, invite, server } = await owned(WITH_MAIL);
    const mia = userOf(await signIn({ deps }, { email: 'mia@example.org' }));
    await invite(mia.email, 'read');
    await deps.users.updateOne({ _id: owner.userId }, { $set: { email: 'new@example.org' } });
    clock.move(DAY);
    await invite(mia.email, 'full', 'new@example.org');
    expect((await server()).invitations).toMatchObject([
      { role: 'full', by: 'new@example.org', byId: owner.userId },
    ]);
    expect(await invitationsOf(deps, mia)).toMatchObject([{ role: 'full', by: 'new@example.org' }]);
    const [first, second] = await mailTexts(deps);
    expect(first).toContain(`${owner.email} invites you`);
    expect(second).toContain('new@example.org invites you');
    expect(second).not.toContain(owner.email);
    // The one sent again follows a later change as well.
    await deps.users.updateOne({ _id: owner.userId }, { $set: { email: 'newest@example.org' } });
    expect(await invitationsOf(deps, mia)).toMatchObject([{ by: 'newest@example.org' }]);
  });

  it('makes the user with the confirmed address a member, in any spelling of it', async () => {
    const { deps, serverId, server, invite, owner } = await owned();
    const mia = await signIn({ deps }, { email: 'mia@example.org' });
    expect(await invite(' Mia@Example.org ', 'read')).toBeNull();
    expect(await invitationsOf(deps, userOf(mia))).toMatchObject([{ role: 'read', by: owner.email }]);
    const unconfirmed = { ...userOf(mia), emailVerified: false };
    expect(await invitationsOf(deps, unconfirmed)).toEqual([]);
    expect(await joinServer(deps, serverId, unconfirmed)).toBeNull();

    const [first, second] = await Promise.all([
      joinServer(deps, serverId, userOf(mia)),
      joinServer(deps, serverId, userOf(mia)),
    ]);
    expect([first, second].filter(Boolean)).toHaveLength(1);
    expect(roleOf(await server(), mia.userId)).toBe('read');
    expect((await server()).members).toHaveLength(1);
    expect((await serversOfUser(deps, mia.userId)).map(({ _id }) => _id)).toEqual([serverId]);
    await expect(invite(mia.email)).rejects.toThrow('has a role already');

    expect(await changeRole(deps, serverId, mia.userId, 'full', owner.email)).toBe(true);
    expect(roleOf(await server(), mia.userId)).toBe('full');
    expect(await removeMember(deps, serverId, mia.userId, owner.email)).toEqual({ revokedTokens: 0 });
    expect(await removeMember(deps, serverId, mia.userId, owner.email)).toBeNull();
    expect(roleOf(await server(), mia.userId)).toBeNull();
    const actions = await deps.auditLog.find({ serverId }).sort({ at: 1, _id: 1 }).toArray();
    expect(actions.map(({ action }) => action)).toEqual([
      'server.add',
      'member.invite',
      'member.join',
      'member.role',
      'member.remove',
    ]);
  });

  it('expires after 14 days, can be withdrawn, and a second one replaces the first', async () => {
    const { deps, clock, serverId, server, invite } = await owned();
    const mia = userOf(await signIn({ deps }, { email: 'mia@example.org' }));
    await invite(mia.email, 'read');
    await invite(mia.email, 'full');
    expect((await server()).invitations).toMatchObject([{ role: 'full' }]);
    expect(await withdrawInvitation(deps, serverId, mia.email, 'test')).toBe(true);
    expect(await joinServer(deps, serverId, mia)).toBeNull();
    await invite(mia.email);
    clock.move(14 * DAY);
    expect(await invitationsOf(deps, mia)).toEqual([]);
    expect(await joinServer(deps, serverId, mia)).toBeNull();
  });

  it('is limited: 20 a server and 20 a day', async () => {
    const { clock, invite } = await owned();
    const results = await Promise.allSettled(
      Array.from({ length: MOST_MEMBERS }, (_, i) => invite(`member-${i}@example.org`)),
    );
    expect(results.map(({ status }) => status)).toEqual(results.map(() => 'fulfilled'));
    expect(await invite('one-more@example.org')).toBeInstanceOf(Date);
    clock.move(DAY);
    await expect(invite('one-more@example.org')).rejects.toThrow('at most 20 members');
    await expect(invite('not an address')).rejects.toThrow('must be an e-mail address');
  });

  it('is mailed once a day, without the name of the server', async () => {
    const { deps, invite } = await owned(WITH_MAIL);
    await invite('mia@example.org');
    await invite('mia@example.org');
    const mails = await deps.mails.find().toArray();
    expect(mails.map(({ to }) => to)).toEqual(['mia@example.org']);
    const [text] = await mailTexts(deps);
    expect(text).toContain('/dashboard');
    expect(text).not.toContain('Alpha');
  });
});

it('a transfer ends the tokens and the members of the earlier owner', async () => {
  const { deps, serverId, server, invite } = await owned();
  const mia = userOf(await signIn({ deps }, { email: 'mia@example.org' }));
  await invite(mia.email);
  await joinServer(deps, serverId, mia);
  await invite('late@example.org');
  await issueToken(deps, { serverId, name: 'plugin' });
  await issueToken(deps, { serverId, name: 'claims', kind: 'claim' });
  const next = await signIn({ deps });
  const given = await transferServer(deps, serverId, { _id: next.userId, email: next.email }, 'test');
  expect(given?.revokedTokens).toBe(2);
  expect((await listTokens(deps, serverId)).every(({ revokedAt }) => revokedAt)).toBe(true);
  expect(await server()).not.toHaveProperty('members');
  expect(await server()).not.toHaveProperty('invitations');
  expect(roleOf(await server(), mia._id)).toBeNull();
});

it('a server without an owner keeps its tokens when an operator gives it to its owner', async () => {
  const { deps, serverId } = await owned();
  await deps.servers.updateOne({ _id: serverId }, { $unset: { ownerId: '' } });
  await issueToken(deps, { serverId, name: 'plugin' });
  const next = await signIn({ deps });
  const given = await transferServer(deps, serverId, { _id: next.userId, email: next.email }, 'test');
  expect(given?.revokedTokens).toBe(0);
});
