import type { ObjectId } from 'mongodb';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { removeServer } from '../../src/workflows/remove-server.ts';
import { transferServer } from '../../src/workflows/transfer-server.ts';
import { startAnswering } from '../support/answering.ts';
import { QUICK } from '../support/delivering.ts';
import {
  type FakeDiscord,
  startFakeDiscord,
  WEBHOOK_ADDRESS,
  WEBHOOK_TOKEN,
} from '../support/fake-discord.ts';
import { addOwnedServer } from '../support/owned-server.ts';
import { type SignedInUser, signIn } from '../support/sign-in.ts';
import { getPage, openWebApp, sendForm, textOf, type WebApp } from '../support/web-app.ts';
import { untranslated } from './untranslated.ts';

let discord: FakeDiscord;
let web: WebApp;
let owner: SignedInUser;
let serverId: ObjectId;

beforeAll(async () => {
  web = await openWebApp({
    ...QUICK,
    LISTENER_TIMEOUT_MS: '300',
    LEASE_MS: '8000',
    DISCORD_API_URL: 'http://127.0.0.1:1/api',
  });
  startAnswering(web.deps);
});

beforeEach(async () => {
  discord = await startFakeDiscord();
  web.deps.config.DISCORD_API_URL = discord.url;
  owner = await signIn(web);
  serverId = await addOwnedServer(web.deps, owner.userId, { name: 'Alpha <b>&</b> *Craft*' });
});

const settings = () => `/dashboard/servers/${serverId.toHexString()}/settings`;
const post = (part: string, fields: Record<string, string> = {}, { headers } = owner) =>
  sendForm(web, `${settings()}/discord${part}`, fields, headers);
const read = async ({ headers } = owner) => textOf((await getPage(web, settings(), headers)).body);
const save = (webhook = WEBHOOK_ADDRESS) => post('', { webhook });
const stored = () => web.deps.discordWebhooks.findOne({ _id: serverId });

test('an owner saves a webhook, chooses kinds, tests and removes it', async () => {
  expect(await read()).toContain('Address of the webhook');
  const saved = await save();
  expect(saved.headers.location).toBe(`${settings()}?done=discord-set#discord`);
  expect(await read()).toContain('Its id ends with 1234');
  const { body } = await getPage(web, settings(), owner.headers);
  expect(body.match(/id="discord-\w+"[^>]*checked/g)).toHaveLength(5);
  await post('/kinds', { kinds: 'chosen', 'kind-listener': 'yes' });
  expect((await stored())?.kindsOff).toEqual(['expiring', 'server', 'review', 'exclusion']);
  expect((await post('/kinds', {})).statusCode).toBe(400);
  const tested = await post('/test');
  expect(textOf(tested.body)).toContain('Discord accepted the test message.');
  expect(tested.body).toContain('id="discord" tabindex="-1" autofocus');
  expect(discord.messages[0]?.embeds?.[0]?.title).toBe(
    'Alpha \\<b\\>\\&\\<\\/b\\> \\*Craft\\*\\: test message',
  );
  // After a new webhook is set, the choice of kinds stays.
  await save();
  expect((await stored())?.kindsOff).toHaveLength(4);
  await post('/remove');
  expect(await stored()).toBeNull();
  expect(await read()).toContain('Address of the webhook');
});

test('a wrong address is refused beside its field, and is not shown again', async () => {
  const wrong = `https://discord.example.org/api/webhooks/1/${WEBHOOK_TOKEN}`;
  const refused = await save(wrong);
  expect(refused.statusCode).toBe(400);
  expect(textOf(refused.body)).toContain('Must begin with https://discord.com/api/webhooks/.');
  expect(refused.body).not.toContain(WEBHOOK_TOKEN);
  expect((await save('"><script>alert(1)</script>')).body).not.toContain('<script>alert');
  expect(await stored()).toBeNull();
});

test('no page, export and audit entry shows the address', async () => {
  await save();
  await post('/test');
  const operator = await signIn(web, { role: 'operator' });
  const pages = await Promise.all([
    getPage(web, settings(), owner.headers),
    getPage(web, '/operator/audit', operator.headers),
    getPage(web, `/operator/servers/${serverId.toHexString()}`, operator.headers),
    sendForm(web, '/account/export', {}, owner.headers),
  ]);
  for (const { body, statusCode } of pages) {
    expect(statusCode).toBe(200);
    expect(body).not.toContain(WEBHOOK_TOKEN);
  }
  expect(textOf(pages[1]?.body ?? '')).toContain('Set a Discord webhook');
  expect(JSON.parse(pages[3]?.body ?? '').servers[0].discord_webhook).toEqual({
    set_at: expect.any(String),
    kinds_off: [],
  });
});

test('a full member changes the webhook; one who only reads does not, and does not see the address', async () => {
  const [full, reader] = [await signIn(web), await signIn(web)];
  const at = new Date();
  await web.deps.servers.updateOne(
    { _id: serverId },
    {
      $set: {
        members: [
          { userId: full.userId, role: 'full', at },
          { userId: reader.userId, role: 'read', at },
        ],
      },
    },
  );
  expect((await post('', { webhook: WEBHOOK_ADDRESS }, full)).statusCode).toBe(303);
  for (const part of ['', '/kinds', '/test', '/remove'])
    expect((await post(part, { webhook: WEBHOOK_ADDRESS, kinds: 'chosen' }, reader)).statusCode).toBe(403);
  expect(discord.requests).toBe(0);
  expect(await read(reader)).toContain('Its id ends with 1234');
});

test.each([
  ['deleted', () => discord.deleteWebhook(), 'Discord does not know this webhook (404)', true],
  ['limited', () => ({ kind: 'limit', retryAfter: 41.2 }) as const, 'Try again in 42 seconds.', false],
  ['failing', () => ({ kind: 'fail', status: 502 }) as const, 'answered with an error (HTTP 502)', false],
  ['refusing', () => ({ kind: 'fail', status: 400 }) as const, 'refused the message (HTTP 400)', false],
  [
    'of a forum channel',
    () => {
      discord.channel = 'forum';
    },
    '“Copy Thread ID” in the menu of the post',
    true,
  ],
  [
    'no forum',
    () => ({ kind: 'refuse', status: 400, code: 220_003 }) as const,
    'in forum channels only',
    true,
  ],
  ['silent', () => ({ kind: 'hang' }) as const, 'Discord did not answer in time.', false],
  ['dripping', () => ({ kind: 'drip' }) as const, 'answered with an error (HTTP 503)', false],
] as const)('the test of a webhook that is %s says so', async (_, spoil, words, isOff) => {
  await save();
  const behaviour = spoil();
  if (behaviour) discord.behaviour = behaviour;
  const tested = textOf((await post('/test')).body);
  expect(tested).toContain(words);
  expect((await stored())?.off !== null).toBe(isOff);
  expect(tested.includes('Messages are off since')).toBe(isOff);
});

test('a webhook that refuses is marked as failing until a test message arrives', async () => {
  await save();
  discord.behaviour = { kind: 'refuse', status: 400, code: 50_035 };
  await post('/test');
  expect(textOf((await getPage(web, settings(), owner.headers)).body)).toContain(
    'Failing: Discord refused the last message, just now (HTTP 400, 50035).',
  );
  discord.behaviour = { kind: 'accept' };
  await post('/test');
  expect(textOf((await getPage(web, settings(), owner.headers)).body)).not.toContain('Failing:');
});

test('the test of a webhook with a wrong token, an unreachable or blocked Discord, and without one', async () => {
  expect(textOf((await post('/test')).body)).toContain('This server has no webhook.');
  await save(WEBHOOK_ADDRESS.replace(/z$/, 'y'));
  expect(textOf((await post('/test')).body)).toContain('refuses the token of this webhook (401)');
  await save();
  web.deps.config.DISCORD_API_URL = 'http://127.0.0.1:1/api';
  expect(textOf((await post('/test')).body)).toContain(
    'The connection to Discord failed (connection-refused)',
  );
  web.deps.config.DISCORD_API_URL = 'http://10.0.0.1/api';
  expect(textOf((await post('/test')).body)).toContain('its operator blocks it');
});

test('the test button is limited', async () => {
  await save();
  expect((await post('/test')).statusCode).toBe(200);
  const askedAt = Array.from({ length: 5 }, () => new Date());
  await web.deps.diagnosisAllowances.updateMany({}, { $set: { askedAt } });
  expect((await post('/test')).statusCode).toBe(200);
  const refused = await post('/test');
  expect(refused.statusCode).toBe(429);
  expect(refused.headers['retry-after']).toBeDefined();
  expect(discord.requests).toBe(2);
});

test('a transferred server and a removed one lose their webhook', async () => {
  const next = await signIn(web);
  await save();
  await transferServer(web.deps, serverId, { _id: next.userId, email: next.email }, 'test');
  expect(await stored()).toBeNull();
  expect((await post('', { webhook: WEBHOOK_ADDRESS }, next)).statusCode).toBe(303);
  await removeServer(web.deps, serverId, 'test');
  expect(await stored()).toBeNull();
});

test('the card is German for a German reader, with a webhook and with one that is off', async () => {
  await save();
  const page = async (language: string) =>
    (await getPage(web, settings(), { ...owner.headers, 'accept-language': language })).body;
  const names = ['Alpha <b>&</b> *Craft*', '*Craft*', '1234', 'Tallyport'];
  expect(untranslated('de', await page('de'), await page('en'), names)).toEqual([]);
  discord.deleteWebhook();
  const tested = await sendForm(
    web,
    `${settings()}/discord/test`,
    {},
    { ...owner.headers, 'accept-language': 'de' },
  );
  expect(textOf(tested.body)).toContain('Discord kennt diesen Webhook nicht (404)');
  expect(untranslated('de', await page('de'), await page('en'), names)).toEqual([]);
});
