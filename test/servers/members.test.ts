import { ObjectId } from 'mongodb';
import { describe, expect, it } from 'vitest';
import { DAY } from '../../src/platform/clock.ts';
import { issueToken, listTokens } from '../../src/servers/api-tokens.ts';
import { changeRole, removeMember } from '../../src/servers/end-membership.ts';
import { addServer } from '../../src/servers/listed-servers.ts';
import {
  invitationsOf,
  inviteMember,
  MOST_MEMBERS,
  serversOf,
  withdrawInvitation,
} from '../../src/servers/members.ts';
import { roleOf } from '../../src/servers/ownership.ts';
import { joinServer } from '../../src/workflows/join-server.ts';
import { transferServer } from '../../src/workflows/transfer-server.ts';
import { type SignedInUser, signIn } from '../support/sign-in.ts';
import { stoppedClock } from '../support/stopped-clock.ts';
import { testPlatform } from '../support/test-platform.ts';

async function owned(settings: Record<string, string> = {}) {
  const clock = stoppedClock();
  const platform = { ...(await testPlatform(settings)), clock };
  const owner = await signIn({ platform });
  const added = await addServer(
    platform,
    { name: 'Alpha', address: 'play.example.org', port: 25_565 },
    'test',
  );
  const serverId = new ObjectId(added.serverId);
  await platform.servers.updateOne({ _id: serverId }, { $set: { ownerId: owner.userId } });
  const server = async () => {
    const found = await platform.servers.findOne({ _id: serverId });
    if (!found) throw new Error('no server');
    return found;
  };
  const invite = async (email: string, role = 'full') =>
    inviteMember(
      platform,
      await server(),
      { email, role },
      { _id: owner.userId, email: owner.email, address: '192.0.2.7' },
    );
  return { platform, clock, owner, serverId, server, invite };
}

const userOf = ({ userId, email }: SignedInUser) => ({ _id: userId, email, emailVerified: true });

describe('an invitation', () => {
  it('makes the user with the confirmed address a member, in any spelling of it', async () => {
    const { platform, serverId, server, invite, owner } = await owned();
    const mia = await signIn({ platform }, { email: 'mia@example.org' });
    expect(await invite(' Mia@Example.org ', 'read')).toBeNull();
    expect(await invitationsOf(platform, userOf(mia))).toMatchObject([{ role: 'read', by: owner.email }]);
    const unconfirmed = { ...userOf(mia), emailVerified: false };
    expect(await invitationsOf(platform, unconfirmed)).toEqual([]);
    expect(await joinServer(platform, serverId, unconfirmed)).toBeNull();

    const [first, second] = await Promise.all([
      joinServer(platform, serverId, userOf(mia)),
      joinServer(platform, serverId, userOf(mia)),
    ]);
    expect([first, second].filter(Boolean)).toHaveLength(1);
    expect(roleOf(await server(), mia.userId)).toBe('read');
    expect((await server()).members).toHaveLength(1);
    expect((await serversOf(platform, mia.userId)).map(({ _id }) => _id)).toEqual([serverId]);
    await expect(invite(mia.email)).rejects.toThrow('has a role already');

    expect(await changeRole(platform, serverId, mia.userId, 'full', owner.email)).toBe(true);
    expect(roleOf(await server(), mia.userId)).toBe('full');
    expect(await removeMember(platform, serverId, mia.userId, owner.email)).toEqual({ revokedTokens: 0 });
    expect(await removeMember(platform, serverId, mia.userId, owner.email)).toBeNull();
    expect(roleOf(await server(), mia.userId)).toBeNull();
    const actions = await platform.auditLog.find({ serverId }).sort({ at: 1, _id: 1 }).toArray();
    expect(actions.map(({ action }) => action)).toEqual([
      'server.add',
      'member.invite',
      'member.join',
      'member.role',
      'member.remove',
    ]);
  });

  it('expires after 14 days, can be withdrawn, and a second one replaces the first', async () => {
    const { platform, clock, serverId, server, invite } = await owned();
    const mia = userOf(await signIn({ platform }, { email: 'mia@example.org' }));
    await invite(mia.email, 'read');
    await invite(mia.email, 'full');
    expect((await server()).invitations).toMatchObject([{ role: 'full' }]);
    expect(await withdrawInvitation(platform, serverId, mia.email, 'test')).toBe(true);
    expect(await joinServer(platform, serverId, mia)).toBeNull();
    await invite(mia.email);
    clock.move(14 * DAY);
    expect(await invitationsOf(platform, mia)).toEqual([]);
    expect(await joinServer(platform, serverId, mia)).toBeNull();
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
    const { platform, invite } = await owned({
      SMTP_URL: 'smtp://127.0.0.1:1',
      MAIL_FROM: 'votes@example.org',
    });
    await invite('mia@example.org');
    await invite('mia@example.org');
    const mails = await platform.mails.find().toArray();
    expect(mails.map(({ to }) => to)).toEqual(['mia@example.org']);
    const [{ _id, sealedText } = { _id: '', sealedText: '' }] = mails;
    const text = platform.secrets.open(sealedText ?? '', `mail ${_id}`);
    expect(text).toContain('/dashboard');
    expect(text).not.toContain('Alpha');
  });
});

it('a transfer ends the tokens and the members of the earlier owner', async () => {
  const { platform, serverId, server, invite } = await owned();
  const mia = userOf(await signIn({ platform }, { email: 'mia@example.org' }));
  await invite(mia.email);
  await joinServer(platform, serverId, mia);
  await invite('late@example.org');
  await issueToken(platform, { serverId, name: 'plugin' });
  await issueToken(platform, { serverId, name: 'claims', kind: 'claim' });
  const next = await signIn({ platform });
  const given = await transferServer(platform, serverId, { _id: next.userId, email: next.email }, 'test');
  expect(given?.revokedTokens).toBe(2);
  expect((await listTokens(platform, serverId)).every(({ revokedAt }) => revokedAt)).toBe(true);
  expect(await server()).not.toHaveProperty('members');
  expect(await server()).not.toHaveProperty('invitations');
  expect(roleOf(await server(), mia._id)).toBeNull();
});

it('a server without an owner keeps its tokens when an operator gives it to its owner', async () => {
  const { platform, serverId } = await owned();
  await platform.servers.updateOne({ _id: serverId }, { $unset: { ownerId: '' } });
  await issueToken(platform, { serverId, name: 'plugin' });
  const next = await signIn({ platform });
  const given = await transferServer(platform, serverId, { _id: next.userId, email: next.email }, 'test');
  expect(given?.revokedTokens).toBe(0);
});
