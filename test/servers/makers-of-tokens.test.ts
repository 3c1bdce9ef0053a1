import { ObjectId } from 'mongodb';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { liftSuspension, suspendUser } from '../../src/accounts/users.ts';
import { issueToken, rotateToken } from '../../src/servers/api-tokens.ts';
import {
  authenticate,
  authenticateCached,
  authenticateClaimKey,
} from '../../src/servers/authenticate-token.ts';
import { changeRole, leaveServer, removeMember } from '../../src/servers/members.ts';
import { transferServer } from '../../src/workflows/transfer-server.ts';
import { mailsTo } from '../site/account-pages.ts';
import { addOwnedServer } from '../support/owned-server.ts';
import { type SignedInUser, signIn } from '../support/sign-in.ts';
import { getPage, openWebApp, sendForm, type WebApp } from '../support/web-app.ts';

let web: WebApp;
let owner: SignedInUser;
let mia: SignedInUser;
let serverId: ObjectId;

beforeAll(async () => {
  web = await openWebApp({ SMTP_URL: 'smtp://127.0.0.1:1', MAIL_FROM: 'Tallyport <votes@example.org>' });
  owner = await signIn(web);
  mia = await signIn(web, { email: 'mia@example.org' });
});

/** A server with a full member: Mia. */
beforeEach(async () => {
  serverId = await addOwnedServer(web.deps, owner.userId, {
    name: `Alpha ${new ObjectId().toHexString()}`,
  });
  const member = { userId: mia.userId, role: 'full' as const, at: new Date() };
  await web.deps.servers.updateOne({ _id: serverId }, { $set: { members: [member] } });
});

const issue = (issuedBy: ObjectId, kind: 'api' | 'claim' = 'api', name = 'plugin') =>
  issueToken(web.deps, { serverId, name, kind, maker: { issuedBy } });
const works = async ({ token }: { token: string }) =>
  (await authenticate(web.deps, serverId.toHexString(), token)) !== null;
const claims = async ({ token }: { token: string }) => (await authenticateClaimKey(web.deps, token)) !== null;
const path = (rest: string) => `/dashboard/servers/${serverId.toHexString()}${rest}`;
const remove = (fields: Record<string, string> = {}) =>
  sendForm(web, path(`/members/${mia.userId.toHexString()}/remove`), fields, owner.headers);
const stored = ({ tokenId }: { tokenId: string }) =>
  web.deps.apiTokens.findOne({ _id: new ObjectId(tokenId) });

test('a removed member’s tokens and claim keys are revoked, the owner’s stay', async () => {
  const tokens = [
    await issue(mia.userId),
    await issue(mia.userId, 'claim'),
    await issue(owner.userId),
  ] as const;
  expect(await works(tokens[0])).toBe(true);
  expect((await getPage(web, path('/members'), owner.headers)).body).toContain(
    'stop working within 5 seconds:',
  );
  expect((await remove()).headers.location).toContain('done=removed');
  expect([await works(tokens[0]), await claims(tokens[1]), await works(tokens[2])]).toEqual([
    false,
    false,
    true,
  ]);
  expect((await stored(tokens[0]))?.revokedAt).toBeInstanceOf(Date);
  const entry = await web.deps.auditLog.findOne({ action: 'member.remove', serverId });
  expect(entry?.details).toEqual({ userId: mia.userId.toHexString(), revokedTokens: 2 });
});

test('a removed member’s token is refused although its last use was just cached', async () => {
  const { token } = await issue(mia.userId);
  const call = () => authenticateCached(web.deps, serverId.toHexString(), token);
  expect(await call()).not.toBeNull();
  await remove();
  expect(await call()).toBeNull();
});

test('an owner keeps the tokens of a removed member, who then is not their maker any more', async () => {
  const token = await issue(mia.userId);
  await remove({ keep: 'yes' });
  expect(await works(token)).toBe(true);
  expect((await stored(token))?.issuedBy).toEqual(owner.userId);
  const entry = await web.deps.auditLog.findOne({ action: 'member.remove', serverId });
  expect(entry?.details).toMatchObject({ tokensKept: true });
});

test('a token that a member makes while they are removed does not work', async () => {
  await removeMember(web.deps, serverId, mia.userId, owner.email);
  expect(await works(await issue(mia.userId))).toBe(false);
  expect(await claims(await issue(mia.userId, 'claim'))).toBe(false);
});

test('a member who becomes read-only loses their tokens, also when they are full again', async () => {
  const token = await issue(mia.userId);
  await changeRole(web.deps, serverId, mia.userId, 'read', owner.email);
  expect(await works(token)).toBe(false);
  await changeRole(web.deps, serverId, mia.userId, 'full', owner.email);
  expect(await works(token)).toBe(false);
});

test('a member who leaves takes their tokens along, and the owner gets a mail about it', async () => {
  const token = await issue(mia.userId);
  const leave = `/dashboard/memberships/${serverId.toHexString()}/leave`;
  expect((await sendForm(web, leave, {}, mia.headers)).headers.location).toContain('done=left');
  expect(await works(token)).toBe(false);
  const mail = (await mailsTo(web.deps, owner.email)).at(-1);
  expect(mail).toContain(`mia@example.org no longer manages Alpha`);
  expect(mail).toContain('One API token');
  await leaveServer(web.deps, serverId, { _id: mia.userId, email: mia.email });
  expect(await mailsTo(web.deps, owner.email)).toHaveLength(1);
});

test('a suspended member’s tokens are refused until the suspension is lifted; those of the owner are not', async () => {
  const [members, owners, key] = [
    await issue(mia.userId),
    await issue(owner.userId),
    await issue(mia.userId, 'claim'),
  ];
  const by = { userId: null, by: 'cli' };
  await suspendUser(web.deps, mia.userId, { reason: 'a test' }, by);
  await suspendUser(web.deps, owner.userId, { reason: 'a test' }, by);
  expect([await works(members), await claims(key), await works(owners)]).toEqual([false, false, true]);
  await liftSuspension(web.deps, mia.userId, by);
  await liftSuspension(web.deps, owner.userId, by);
  expect([await works(members), await claims(key)]).toEqual([true, true]);
  owner = { ...owner, ...(await signIn(web)) };
  mia = await signIn(web, { email: `mia-${new ObjectId().toHexString()}@example.org` });
});

test('a transfer ends the tokens of all earlier makers, also one that was made meanwhile', async () => {
  const token = await issue(owner.userId);
  const next = await signIn(web);
  await transferServer(web.deps, serverId, { _id: next.userId, email: next.email }, 'cli');
  expect(await works(token)).toBe(false);
  expect(await works(await issue(owner.userId))).toBe(false);
  expect(await works(await issue(mia.userId))).toBe(false);
  expect(await works(await issue(next.userId))).toBe(true);
});

test('whoever replaces a token is the maker of the new one', async () => {
  const old = await issue(mia.userId);
  const id = new ObjectId(old.tokenId);
  const options = { overlapMs: 0, maker: { issuedBy: owner.userId } };
  const next = await rotateToken(web.deps, serverId, id, options);
  await removeMember(web.deps, serverId, mia.userId, owner.email);
  expect(next && (await works(next))).toBe(true);
});

test('the page of the tokens names who made each: users of the server, or an operator', async () => {
  await issue(mia.userId, 'api', 'of Mia');
  await issueToken(web.deps, { serverId, name: 'of an operator', maker: { byOperator: true } });
  await issueToken(web.deps, { serverId, name: 'of an older version' });
  const fields = { name: 'of the owner', lifetime: '1y', vote: 'yes', newId: new ObjectId().toHexString() };
  await sendForm(web, path('/tokens'), fields, owner.headers);
  const { body } = await getPage(web, path('/tokens'), owner.headers);
  const makerOf = (name: string) =>
    new RegExp(`<bdi>${name}</bdi>[^]*?data-title="Made by"><div><bdi>([^<]*)</bdi>`).exec(body)?.[1];
  expect(['of Mia', 'of an operator', 'of an older version', 'of the owner'].map(makerOf)).toEqual([
    mia.email,
    'an operator',
    'not recorded',
    owner.email,
  ]);
});
