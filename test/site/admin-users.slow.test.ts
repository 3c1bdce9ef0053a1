import { beforeAll, beforeEach, expect, test } from 'vitest';
import { makePasswordLink } from '../../src/accounts/make-link.ts';
import { createOperator, setRole } from '../../src/accounts/users.ts';
import { addOwnedServer } from '../support/owned-server.ts';
import { type SignedInUser, signIn } from '../support/sign-in.ts';
import { getPage, openWebApp, sendForm, type WebApp } from '../support/web-app.ts';
import {
  copied,
  isSignedIn,
  linkTo,
  mailsTo,
  removeUsers,
  sendSignIn,
  setUpTwoFactor,
  tokenOf,
} from './account-pages.ts';

const NEW_PASSWORD = 'seven lamps on the quay';

let shared: WebApp;

beforeAll(async () => {
  shared = await openWebApp();
});
beforeEach(() => removeUsers(shared.deps));

/** Creates an operator and an owner, with helpers for the operator's actions. */
async function twoUsers(web = shared) {
  const operator = await signIn(web, { role: 'operator' });
  const owner = await signIn(web);
  return { web, operator, owner, ...actions(web, operator) };
}

function actions(web: WebApp, by: SignedInUser) {
  const path = ({ userId }: Pick<SignedInUser, 'userId'>) => `/operator/users/${userId.toHexString()}`;
  return {
    press: (on: SignedInUser, button: string, fields: Record<string, string> = {}) =>
      sendForm(web, `${path(on)}/${button}`, fields, by.headers),
    look: (on: SignedInUser, query = '') => getPage(web, `${path(on)}${query}`, by.headers),
  };
}

function audited({ deps }: WebApp): Promise<string[]> {
  return deps.auditLog
    .find({ action: /^person\./ })
    .sort({ at: 1 })
    .map(({ by, action }) => `${by} ${action}`)
    .toArray();
}

test('an operator confirms an address, and the user sees invitations', async () => {
  const { web, operator, owner, press, look } = await twoUsers(await openWebApp(MAIL));
  await web.deps.users.updateOne({ _id: owner.userId }, { $set: { emailVerified: false } });
  const serverId = await addOwnedServer(web.deps, operator.userId);
  const invitation = { email: owner.email, role: 'read' as const, by: operator.email, at: new Date() };
  await web.deps.servers.updateOne({ _id: serverId }, { $set: { invitations: [invitation] } });
  const dashboard = async () => (await getPage(web, '/dashboard', owner.headers)).body;
  expect(await dashboard()).toContain('Your e-mail address is not confirmed');
  expect((await look(owner)).body).toContain('Confirm address');
  await press(owner, 'confirm-address');
  expect((await look(owner)).body).not.toContain('Confirm address');
  expect(await dashboard()).toContain('invites you to manage');
  expect(await audited(web)).toEqual([`${operator.email} person.confirm-address`]);
});

test('a suspended user is signed out at once and cannot sign in until it is lifted; the servers stay', async () => {
  const { web, operator, owner, press, look } = await twoUsers();
  const serverId = await addOwnedServer(web.deps, owner.userId);
  expect((await press(owner, 'suspend', { reason: ' ' })).statusCode).toBe(400);
  expect(await isSignedIn(web, owner.headers)).toBe(true);
  const done = await press(owner, 'suspend', { reason: 'sells votes <b>' });
  expect(done.statusCode).toBe(303);
  expect(await isSignedIn(web, owner.headers)).toBe(false);
  const refused = await sendSignIn(web, owner.email);
  expect(refused.statusCode).toBe(401);
  expect(refused.body).toContain('This account is suspended.');
  expect((await look(owner, '?done=suspended')).body).toContain('sells votes &lt;b&gt;');
  expect(await web.deps.servers.findOne({ _id: serverId, removedAt: null })).not.toBeNull();

  await press(owner, 'lift');
  expect(await isSignedIn(web, owner.headers)).toBe(false);
  expect((await sendSignIn(web, owner.email)).statusCode).toBe(303);
  expect(await audited(web)).toEqual([`${operator.email} person.suspend`, `${operator.email} person.lift`]);
});

test('a session that outlives a suspension has no access', async () => {
  const { web, owner } = await twoUsers();
  await web.deps.users.updateOne({ _id: owner.userId }, { $set: { suspendedAt: new Date() } });
  expect(await isSignedIn(web, owner.headers)).toBe(false);
});

test('resetting the second factor ends all sessions', async () => {
  const { web, owner, press } = await twoUsers();
  const { headers } = await setUpTwoFactor(web, owner);
  await press(owner, 'reset-two-factor');
  expect(await isSignedIn(web, headers)).toBe(false);
  expect((await sendSignIn(web, owner.email)).headers.location).toBe('/dashboard');
  expect(await web.deps.twoFactors.countDocuments()).toBe(0);
});

test('a suspension without a reason for the user does not show that of an earlier one', async () => {
  const { web, owner, press } = await twoUsers();
  await press(owner, 'suspend', { reason: 'x', reasonForOwner: 'rule seven' });
  expect((await sendSignIn(web, owner.email)).body).toContain('rule seven');
  await press(owner, 'suspend', { reason: 'y' });
  const { body } = await sendSignIn(web, owner.email);
  expect(body).toContain('This account is suspended.');
  expect(body).not.toContain('rule seven');
});

test('the operator role is given and removed with immediate effect', async () => {
  const { web, operator, owner, press } = await twoUsers();
  await press(owner, 'make-operator');
  expect((await getPage(web, '/operator', owner.headers)).headers.location).toBe('/account/two-factor');
  await press(owner, 'unmake-operator');
  expect((await getPage(web, '/operator', owner.headers)).statusCode).toBe(404);
  expect(await audited(web)).toEqual([
    `${operator.email} person.make-operator`,
    `${operator.email} person.unmake-operator`,
  ]);
});

test.each([
  'suspend',
  'reset-two-factor',
  'unmake-operator',
])('operators cannot %s themselves', async (button) => {
  const { web, operator, press, look } = await twoUsers();
  const refused = await press(operator, button, { reason: 'x' });
  expect(refused.statusCode).toBe(400);
  expect(refused.body).toContain('Another operator has to do that for you.');
  expect((await look(operator)).body).toContain('This is your account.');
  expect((await getPage(web, '/operator', operator.headers)).statusCode).toBe(200);
});

test('if operators remove each other’s role at the same time, one operator remains', async () => {
  const { web, operator } = await twoUsers();
  const { deps } = web;
  const others = await Promise.all([1, 2, 3].map(() => signIn(web, { role: 'operator' })));
  const all = [operator, ...others];
  const unmake = (on: SignedInUser, by: SignedInUser) =>
    setRole(deps, on.userId, 'owner', { userId: by.userId, by: by.email });
  // Open a connection for each request, so that the requests overlap.
  await Promise.all(Array.from({ length: 20 }, () => deps.users.findOne({})));
  const ends = await Promise.allSettled(
    all.map((one, n) => unmake(one, all[(n + 1) % all.length] ?? operator)),
  );
  expect(ends.filter(({ status }) => status === 'rejected')).toMatchObject([
    { reason: { code: 'last-operator' } },
  ]);
  const last = await deps.users.find({ role: 'operator' }).toArray();
  expect(last).toHaveLength(1);
  const byCli = setRole(deps, last[0]?._id ?? operator.userId, 'owner', { userId: null, by: 'cli' });
  await expect(byCli).rejects.toThrow('This is the last operator');
  const gone = all.find(({ userId }) => !userId.equals(last[0]?._id));
  expect(gone && (await getPage(web, '/operator', gone.headers)).statusCode).toBe(404);
});

test('without mail a one-time link is shown once, and works once', async () => {
  const { web, operator, owner, press } = await twoUsers();
  const shown = await press(owner, 'link');
  const link = copied(shown.body);
  expect(link).toMatch(/^http:\/\/localhost:3000\/set-password\?token=\w+$/);
  const token = tokenOf(link);
  const set = await sendForm(web, '/set-password', { token, password: NEW_PASSWORD });
  expect(set.statusCode).toBe(303);
  expect((await sendSignIn(web, owner.email, NEW_PASSWORD)).statusCode).toBe(303);
  expect((await sendForm(web, '/set-password', { token, password: 'and once more please' })).statusCode).toBe(
    400,
  );
  expect(await audited(web)).toEqual([`${operator.email} person.give-link`]);
  expect(JSON.stringify(await web.deps.auditLog.find().toArray())).not.toContain(token);
});

test('with mail the link is sent to the user and not shown to the operator', async () => {
  const { web, owner, press } = await twoUsers(
    await openWebApp({ SMTP_URL: 'smtp://127.0.0.1:1', MAIL_FROM: 'votes@example.org' }),
  );
  const answer = await press(owner, 'link');
  expect(answer.headers.location).toMatch(/\?done=link-sent$/);
  expect(answer.body).not.toContain('token');
  expect((await mailsTo(web.deps, owner.email))[0]).toContain('/set-password?token=');
});

test('users are found by the beginning of their address or name, and listed page by page', async () => {
  const { web, operator } = await twoUsers();
  const { users } = web.deps;
  const now = Date.now();
  const others = Array.from({ length: 120 }, (_, n) => ({
    name: n === 7 ? 'Émile Dupont' : `User ${n}`,
    email: `p${String(n).padStart(3, '0')}@example.org`,
    emailVerified: true,
    // Many users have the same creation time: no page may skip one of them.
    createdAt: new Date(now - Math.floor(n / 40) * 1_000),
    updatedAt: new Date(now),
    role: 'owner' as const,
  }));
  await users.insertMany(others as never);
  const find = async (query: string) => {
    const { body, statusCode } = await getPage(web, `/operator/users?${query}`, operator.headers);
    expect(statusCode).toBe(200);
    const older = /href="\/operator\/users\?([^"]*)" rel="next"/.exec(body)?.[1]?.replaceAll('&amp;', '&');
    return { found: [...body.matchAll(/users\/[0-9a-f]{24}">([^<]+)</g)].map(([, email]) => email), older };
  };
  expect((await find('search=P01')).found).toHaveLength(10);
  expect((await find('search=emile')).found).toEqual(['p007@example.org']);
  expect((await find('search=%5Ep0')).found).toEqual([]);
  expect((await find('role=operator')).found).toEqual([operator.email]);
  expect((await find('search=p01&role=operator')).found).toEqual([]);
  await users.updateMany(
    { email: { $in: ['p007@example.org', 'p017@example.org'] } },
    { $set: { role: 'operator' } },
  );
  expect((await find('search=p01&role=operator')).found).toEqual(['p017@example.org']);
  expect((await find('search=emile&role=operator')).found).toEqual(['p007@example.org']);

  const seen: (string | undefined)[] = [];
  let query: string | undefined = '';
  while (query !== undefined) {
    const page = await find(query);
    seen.push(...page.found);
    query = page.older;
  }
  expect(new Set(seen).size).toBe(122);
  expect(seen).toHaveLength(122);
  expect((await find('after=nonsense')).found).toHaveLength(50);
  const unknown = await getPage(web, `/operator/users/${'f'.repeat(24)}`, operator.headers);
  expect(unknown.statusCode).toBe(404);
});

test('creating an operator works for new and existing users, and can be repeated', async () => {
  const web = shared;
  const cli = { userId: null, by: 'cli' };
  const made = await Promise.all(
    [1, 2, 3].map(() => createOperator(web.deps, { email: 'Ada@Example.org', name: 'Ada' }, cli)),
  );
  expect(made.filter(({ isNew }) => isNew)).toHaveLength(1);
  const owner = await signIn(web);
  const raised = await createOperator(web.deps, { email: owner.email }, cli);
  expect(raised).toMatchObject({ isNew: false, user: { role: 'operator', name: 'Olivia Owner' } });
  expect(await web.deps.users.countDocuments({ role: 'operator' })).toBe(2);
  await expect(createOperator(web.deps, { email: 'no address' }, cli)).rejects.toThrow('e-mail address');
});

test('an unconfirmed account with the same address does not become the operator', async () => {
  const web = shared;
  const stranger = await signIn(web, { email: 'ada@example.org' });
  await web.deps.users.updateOne({ _id: stranger.userId }, { $set: { emailVerified: false } });
  const cli = { userId: null, by: 'cli' };
  const { user } = await createOperator(web.deps, { email: 'ada@example.org' }, cli);
  expect(user).toMatchObject({ role: 'operator', emailVerified: true, _id: stranger.userId });
  expect(await isSignedIn(web, stranger.headers)).toBe(false);
  expect((await sendSignIn(web, 'ada@example.org')).statusCode).toBe(401);
  // The real owner of the address receives a link.
  const token = tokenOf(await makePasswordLink(web.deps, user));
  await sendForm(web, '/set-password', { token, password: NEW_PASSWORD });
  expect((await sendSignIn(web, 'ada@example.org', NEW_PASSWORD)).headers.location).toBe('/operator');
});

const MAIL = { SMTP_URL: 'smtp://127.0.0.1:1', MAIL_FROM: 'votes@example.org' };

test('an operator changes the address of a lost mailbox: the new address confirms, and the old one gets a mail', async () => {
  const web = await openWebApp(MAIL);
  const { operator, owner, press, look } = await twoUsers(web);
  await setUpTwoFactor(web, owner);
  const to = 'found@example.org';
  const fields = { email: to.toUpperCase(), emailReason: 'Showed the old invoice' };
  expect((await press(owner, 'email', { ...fields, emailReason: ' ' })).body).toContain(
    'The reason must say why.',
  );
  expect((await press(owner, 'email', { ...fields, email: 'nothing' })).statusCode).toBe(400);
  expect((await press(owner, 'email', { ...fields, email: owner.email })).body).toContain('already');
  expect((await press(owner, 'email', { ...fields, email: operator.email })).body).toContain(
    'Another account has this address.',
  );
  expect((await press(operator, 'email', fields)).body).toContain('Another operator has to do that for you.');

  const done = await press(owner, 'email', fields);
  expect(done.headers.location).toContain('done=email-requested');
  expect(await isSignedIn(web, owner.headers)).toBe(false);
  expect((await web.deps.users.findOne({ _id: owner.userId }))?.email).toBe(owner.email);
  expect((await look(owner)).body).toContain(to);
  const [old = '', fresh = ''] = [
    (await mailsTo(web.deps, owner.email)).at(-1),
    (await mailsTo(web.deps, to)).at(-1),
  ];
  for (const mail of [old, fresh]) {
    expect(mail).not.toContain(operator.email);
    expect(mail).not.toContain('invoice');
  }
  expect(old).toContain('cancel the change');

  const token = tokenOf(await linkTo(web.deps, to));
  const { body } = await sendForm(web, '/confirm-address', { token, decision: 'confirm' });
  expect(body).toContain('The address is changed');
  const user = await web.deps.users.findOne({ _id: owner.userId });
  expect(user).toMatchObject({ email: to, emailVerified: true, twoFactorEnabled: true });
  expect((await sendSignIn(web, to)).headers.location).toBe('/sign-in/code');
  expect((await mailsTo(web.deps, owner.email)).at(-1)).toContain(`to ${to}`);
  const entries = await web.deps.auditLog
    .find({ action: /email$/ })
    .sort({ at: 1 })
    .toArray();
  expect(entries.map(({ by, action }) => [by, action])).toEqual([
    [operator.email, 'person.email'],
    [operator.email, 'account.email'],
  ]);
});

test('the old mailbox can cancel the change of an operator, and a suspended user keeps the address', async () => {
  const web = await openWebApp(MAIL);
  const { owner, press } = await twoUsers(web);
  const fields = { email: 'thief@example.org', emailReason: 'Said so on the phone' };
  await press(owner, 'email', fields);
  const token = tokenOf(await linkTo(web.deps, owner.email));
  const newToken = tokenOf(await linkTo(web.deps, fields.email));
  const { body } = await getPage(web, `/confirm-address?token=${token}`);
  expect(body).toContain('Cancel change');
  expect(body).not.toContain('Confirm change');
  expect(body).not.toContain('somebody knows your password');
  await sendForm(web, '/confirm-address', { token, decision: 'cancel' });
  expect((await sendForm(web, '/confirm-address', { token: newToken, decision: 'confirm' })).statusCode).toBe(
    400,
  );
  expect((await web.deps.users.findOne({ _id: owner.userId }))?.email).toBe(owner.email);
  await press(owner, 'suspend', { reason: 'x' });
  expect((await press(owner, 'email', fields)).body).toContain('Lift the suspension first.');
});

test('without mail, an operator’s change of an address applies at once and ends all sessions', async () => {
  const { web, owner, press } = await twoUsers();
  const fields = { email: 'found@example.org', emailReason: 'Known in person' };
  const answers = await Promise.all([press(owner, 'email', fields), press(owner, 'email', fields)]);
  expect(answers.map(({ statusCode }) => statusCode).toSorted()).toEqual([303, 400]);
  expect(await isSignedIn(web, owner.headers)).toBe(false);
  expect((await sendSignIn(web, owner.email)).statusCode).toBe(401);
  expect((await sendSignIn(web, fields.email)).statusCode).toBe(303);
  expect(await web.deps.auditLog.countDocuments({ action: 'person.email' })).toBe(1);
});
