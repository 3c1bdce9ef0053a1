import { ObjectId } from 'mongodb';
import { beforeAll, expect, it } from 'vitest';
import { DAY, HOUR } from '../../src/platform/clock.ts';
import { issueToken } from '../../src/servers/api-tokens.ts';
import { authenticate } from '../../src/servers/authenticate-token.ts';
import { addOwnedServer } from '../support/owned-server.ts';
import { type SignedInUser, signIn } from '../support/sign-in.ts';
import { getPage, openWebApp, sendForm, type WebApp } from '../support/web-app.ts';

let web: WebApp;
let olivia: SignedInUser;
let serverId: ObjectId;
const path = () => `/dashboard/servers/${serverId.toHexString()}/tokens`;
const post = (rest: string, fields: Record<string, string>) =>
  sendForm(web, `${path()}${rest}`, fields, olivia.headers);
/** The form fields with all scopes checked. */
const ALL = { vote: 'yes', status: 'yes', read: 'yes' };

const tokenIn = (body: string) => /<code>(tpc?_\w{36})<\/code>/.exec(body)?.[1];
const letsIn = async (token = '') => Boolean(await authenticate(web.deps, serverId.toHexString(), token));
const newId = () => new ObjectId().toHexString();

beforeAll(async () => {
  web = await openWebApp();
  olivia = await signIn(web);
  serverId = await addOwnedServer(web.deps, olivia.userId);
});

it('a token is created, shown once, used in the example calls, and recorded in the audit log', async () => {
  const fields = { name: 'Website', lifetime: '90d', ...ALL, newId: newId() };
  const made = await post('', fields);
  const token = tokenIn(made.body) ?? '';
  expect(await letsIn(token)).toBe(true);
  expect(made.headers['cache-control']).toBe('no-store');
  expect(made.body).toContain(
    `curl &quot;${web.deps.config.PUBLIC_URL}/api/v1/servers/${serverId}/vote&quot;`,
  );
  expect(made.body.split(`Authorization: Bearer ${token}`)).toHaveLength(8);
  const entry = await web.deps.auditLog.findOne({ action: 'token.issue' });
  expect(entry).toMatchObject({ by: olivia.email, details: { name: 'Website' } });
  expect(JSON.stringify(entry)).not.toContain(token);

  const later = await getPage(web, path(), olivia.headers);
  expect(tokenIn(later.body)).toBeUndefined();
  expect(later.body).toContain(`${token.slice(0, 9)}…`);
  expect(later.body.split('Authorization: Bearer $TOKEN')).toHaveLength(8);

  const before = await web.deps.apiTokens.countDocuments({ serverId });
  const again = await post('', fields);
  expect(again.statusCode).toBe(409);
  expect(again.body).toContain('This form was already sent');
  expect(await web.deps.apiTokens.countDocuments({ serverId })).toBe(before);
});

it('a claim key is created with the file of VoteReward, and is marked in the list', async () => {
  const made = await post('', { name: 'EasyVote', kind: 'claim', lifetime: 'never', newId: newId() });
  const key = tokenIn(made.body) ?? '';
  expect(made.body).toContain('Your new claim key');
  expect(made.body).toContain(`key=${key}&amp;username={USERNAME}`);
  expect(await letsIn(key)).toBe(true);
  expect((await web.deps.apiTokens.findOne({ name: 'EasyVote' }))?.kind).toBe('claim');
  expect((await getPage(web, path(), olivia.headers)).body).toContain('(claim key)');
});

it('a token has the chosen scopes, and at least one', async () => {
  const none = await post('', { name: 'None', lifetime: 'never', newId: newId() });
  expect([none.statusCode, none.body]).toEqual([400, expect.stringContaining('Choose at least one thing')]);
  await post('', { name: 'Status only', lifetime: 'never', status: 'yes', newId: newId() });
  expect((await web.deps.apiTokens.findOne({ name: 'Status only' }))?.scopes).toEqual(['status']);
  expect((await getPage(web, path(), olivia.headers)).body).toContain('(only status)');
});

it('a new token expires in a year unless another time is chosen, on the page of plugins too', async () => {
  const { body } = await getPage(web, path(), olivia.headers);
  expect(body).toMatch(/<option value="1y" selected/);
  await post('', { name: 'For ever', lifetime: 'never', ...ALL, newId: newId() });
  expect((await web.deps.apiTokens.findOne({ name: 'For ever' }))?.expiresAt).toBeNull();
  const connect = `/dashboard/servers/${serverId.toHexString()}/connect`;
  expect((await getPage(web, connect, olivia.headers)).body).toMatch(/<option value="1y" selected/);
  const id = newId();
  await sendForm(web, `${connect}/key`, { newId: id, lifetime: '1y' }, olivia.headers);
  const key = await web.deps.apiTokens.findOne({ _id: new ObjectId(id) });
  expect(key?.lifetimeMs).toBe(365 * DAY);
  expect(key?.issuedBy).toEqual(olivia.userId);
});

it('tokens that never expire are marked after a year, and those that expire within 30 days', async () => {
  const { tokenId } = await issueToken(web.deps, { serverId, name: 'From long ago' });
  await issueToken(web.deps, { serverId, name: 'Ending', expiresInMs: 29 * DAY });
  expect((await getPage(web, path(), olivia.headers)).body).not.toContain('over a year old');
  const createdAt = new Date(Date.now() - 366 * DAY);
  await web.deps.apiTokens.updateOne({ _id: new ObjectId(tokenId) }, { $set: { createdAt } });
  const { body } = await getPage(web, path(), olivia.headers);
  expect(body).toContain('1 token is over a year old and never expires.');
  expect(body).toContain('over a year old, never expires');
  const [ending = ''] = /Ending[\s\S]*?<\/tr>/.exec(body) ?? [];
  expect(ending).toMatch(/attention[\s\S]*?expires/);
});

it('an invalid name is refused beside its field', async () => {
  const refused = await post('', { name: '  ', lifetime: 'never', ...ALL, newId: newId() });
  expect(refused.statusCode).toBe(400);
  expect(refused.body).toContain('The name must not be empty.');
  const broken = await post('', { name: 'x', lifetime: 'never', newId: 'x' });
  expect(broken.body).toContain('Reload the page.');
});

it('a token is replaced once, and the old one stays valid for the chosen time', async () => {
  const old = await issueToken(web.deps, { serverId, name: 'Plugin' });
  const fields = { overlap: '1h', newId: newId() };
  const replaced = await post(`/${old.tokenId}/rotate`, fields);
  expect(await letsIn(tokenIn(replaced.body))).toBe(true);
  const existing = await web.deps.apiTokens.findOne({ _id: new ObjectId(old.tokenId) });
  const lasts = (existing?.expiresAt?.getTime() ?? 0) - Date.now();
  expect(lasts).toBeGreaterThan(HOUR - 60_000);
  expect(lasts).toBeLessThanOrEqual(HOUR);
  expect((await post(`/${old.tokenId}/rotate`, fields)).body).toContain('This form was already sent');
  expect(await web.deps.apiTokens.countDocuments({ name: 'Plugin' })).toBe(2);

  const at = await post(`/${old.tokenId}/rotate`, { overlap: '0', newId: newId() });
  expect(tokenIn(at.body)).toBeDefined();
  expect(await letsIn(old.token)).toBe(false);
  expect((await post(`/${old.tokenId}/rotate`, { overlap: '0', newId: newId() })).statusCode).toBe(409);
});

it('an interrupted replacement is completed by sending the form again', async () => {
  const old = await issueToken(web.deps, { serverId, name: 'Cut' });
  const id = newId();
  await issueToken(web.deps, { serverId, name: 'Cut', tokenId: new ObjectId(id) });
  expect((await post(`/${old.tokenId}/rotate`, { overlap: '0', newId: id })).statusCode).toBe(409);
  expect(await letsIn(old.token)).toBe(false);
});

it('a revoked token is refused; another server’s token is not found', async () => {
  const { tokenId, token } = await issueToken(web.deps, { serverId, name: 'Gone' });
  const revoked = await post(`/${tokenId}/revoke`, {});
  expect(revoked.headers.location).toBe(`${path()}?done=revoked`);
  expect(await letsIn(token)).toBe(false);
  const elsewhere = await issueToken(web.deps, { serverId: new ObjectId(), name: 'Other' });
  expect((await post(`/${elsewhere.tokenId}/revoke`, {})).statusCode).toBe(404);
  const { revokedAt } = (await web.deps.apiTokens.findOne({ name: 'Other' })) ?? {};
  expect(revokedAt).toBeNull();
});
