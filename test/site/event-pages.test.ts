import { ObjectId } from 'mongodb';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { openSigningSecrets } from '../../src/events/subscription-secret.ts';
import { CHECKS } from '../../src/platform/limits/check-allowance.ts';
import { startAnswering } from '../support/answering.ts';
import { QUICK } from '../support/delivering.ts';
import {
  type FakeDiscord,
  startFakeDiscord,
  WEBHOOK_ADDRESS,
  WEBHOOK_TOKEN,
} from '../support/fake-discord.ts';
import { startFakeHttpListener } from '../support/fake-http-listener.ts';
import { addOwnedServer } from '../support/owned-server.ts';
import { type SignedInUser, signIn } from '../support/sign-in.ts';
import { getPage, openWebApp, sendForm, textOf, type WebApp } from '../support/web-app.ts';

let discord: FakeDiscord;
let web: WebApp;
let owner: SignedInUser;
let serverId: ObjectId;

beforeAll(async () => {
  web = await openWebApp({ ...QUICK, LISTENER_TIMEOUT_MS: '300', ALLOWED_PRIVATE_RANGES: '127.0.0.0/8' });
  startAnswering(web.deps);
});

beforeEach(async () => {
  discord = await startFakeDiscord();
  web.deps.config.DISCORD_API_URL = discord.url;
  owner = await signIn(web);
  serverId = await addOwnedServer(web.deps, owner.userId);
});

const path = () => `/dashboard/servers/${serverId.toHexString()}/events`;
const post = (part: string, fields: Record<string, string> = {}, { headers } = owner) =>
  sendForm(web, `${path()}${part}`, fields, headers);
const read = async (part = '', { headers } = owner) =>
  textOf((await getPage(web, `${path()}${part}`, headers)).body);
const only = async () => {
  const found = await web.deps.subscriptions.find({ serverId }).toArray();
  expect(found).toHaveLength(1);
  return found[0] as (typeof found)[number];
};

const newId = () => new ObjectId().toHexString();
const http = (url = 'https://example.org/events') => ({
  type: 'http',
  newId: newId(),
  name: 'Raid bot',
  url,
  'kind-goal.reached': 'yes',
});
const channel = () => ({
  type: 'discord',
  newId: newId(),
  name: '#news',
  webhook: WEBHOOK_ADDRESS,
  'kind-milestone': 'yes',
});

/** Adds one and returns the part of its page. */
async function added(fields: Record<string, string>): Promise<string> {
  expect((await post('', fields)).statusCode).toBeLessThan(400);
  return `/${(await only())._id.toHexString()}`;
}

test('a secret is shown once, and a form that is sent twice adds one destination', async () => {
  const fields = http();
  const first = await post('', fields);
  const stored = await only();
  const secret = openSigningSecrets(web.deps.secrets, stored).secret;
  expect(first.body).toContain(secret);
  const again = await post('', fields);
  expect(again.headers.location).toBe(`${path()}/${fields.newId}?done=added`);
  expect(stored).toMatchObject({ name: 'Raid bot', kinds: ['goal.reached'], url: fields.url });
  expect(await read()).toContain('Raid bot');
  expect(await read(`/${fields.newId}`)).toContain('nothing sent yet');
  const operator = await signIn(web, { role: 'operator' });
  const later = await Promise.all([
    getPage(web, path(), owner.headers),
    getPage(web, `${path()}/${fields.newId}`, owner.headers),
    getPage(web, '/operator/audit', operator.headers),
    sendForm(web, '/account/export', {}, owner.headers),
  ]);
  for (const { body, statusCode } of later) {
    expect(statusCode).toBe(200);
    expect(body).not.toContain(secret);
  }
});

test('what is wrong is said at its field, and a wrong address of a webhook is not shown again', async () => {
  const wrong = await post('', { ...channel(), name: '', webhook: `https://example.org/${WEBHOOK_TOKEN}` });
  expect(wrong.statusCode).toBe(400);
  expect(wrong.body).not.toContain(WEBHOOK_TOKEN);
  const none = await post('', { type: 'http', newId: newId(), name: 'Bot', url: 'ftp://example.org' });
  expect(none.statusCode).toBe(400);
  expect(textOf(none.body)).toContain('Choose at least one kind of event.');
  expect(none.body).toContain('value="ftp://example.org"');
  expect(none.body).toContain('href="#kinds"');
  const template = await post('', { ...channel(), template: '{name} voted' });
  expect(textOf(template.body)).toContain('Has no placeholder {name}.');
  expect(await web.deps.subscriptions.countDocuments({ serverId })).toBe(0);
});

test('an eleventh destination is refused', async () => {
  for (let added = 0; added < 10; added += 1) await post('', http());
  expect(await read()).toContain('A server has at most 10 destinations. Remove one to add another.');
  const refused = await post('', http());
  expect(refused.statusCode).toBe(409);
  expect(await web.deps.subscriptions.countDocuments({ serverId })).toBe(10);
});

test('a destination is changed, paused, resumed and removed; its webhook is never shown', async () => {
  const one = await added(channel());
  const revision = { revision: String((await only()).revision) };
  const changed = await post(one, {
    ...revision,
    name: '#party',
    webhook: '',
    'kind-vote.counted': 'yes',
    template: '{player}!',
  });
  expect(changed.headers.location).toBe(`${path()}${one}?done=saved`);
  const stored = await only();
  expect(stored).toMatchObject({
    name: '#party',
    kinds: ['vote.counted'],
    template: '{player}!',
    ending: '1234',
  });
  // An old tab overwrites nothing.
  expect((await post(one, { ...channel(), ...revision })).statusCode).toBe(409);
  await post(`${one}/pause`);
  expect(await read(one)).toContain('Events wait until you resume it.');
  await post(`${one}/resume`);
  const { body } = await getPage(web, `${path()}${one}`, owner.headers);
  expect(textOf(body)).not.toContain('Events wait until you resume it.');
  expect(body).not.toContain(WEBHOOK_TOKEN);
  expect((await post(`${one}/remove`)).headers.location).toBe(`${path()}?done=removed`);
  expect((await post(`${one}/remove`)).headers.location).toBe(`${path()}?done=removed`);
  expect((await post(`${one}/pause`)).statusCode).toBe(404);
  expect((await getPage(web, `${path()}${one}`, owner.headers)).statusCode).toBe(404);
});

test('another address counts as a check, and the same one or another name does not', async () => {
  const part = await added(http());
  const change = async (url: string, name = 'Bot') =>
    post(part, { ...http(url), name, revision: String((await only()).revision) });
  for (let n = 0; n < 8; n += 1) expect((await change(http().url, `Bot ${n}`)).statusCode).toBe(303);
  const answers: number[] = [];
  for (let n = 0; n < CHECKS.times + 1; n += 1)
    answers.push((await change(`https://example.org/${n}`)).statusCode);
  expect(answers).toEqual([...Array(CHECKS.times).fill(303), 429]);
  expect(await only()).toMatchObject({ url: `https://example.org/${CHECKS.times - 1}` });
});

test('a secret is rotated once, however often the form is sent', async () => {
  const one = await added(http());
  const { revision, sealedSecret } = await only();
  const fields = { revision: String(revision) };
  const rotated = await post(`${one}/rotate`, fields);
  const stored = await only();
  expect(rotated.body).toContain(openSigningSecrets(web.deps.secrets, stored).secret);
  expect(stored.previousSecret?.sealed).toBe(sealedSecret);
  const again = await post(`${one}/rotate`, fields);
  expect(again.statusCode).toBe(409);
  expect((await only()).sealedSecret).toBe(stored.sealedSecret);
  expect((await getPage(web, `${path()}${one}/rotate`, owner.headers)).headers.location).toBe(
    `${path()}${one}`,
  );
});

test('a test event over HTTP says what the program answered, and is in the log without a replay', async () => {
  const program = await startFakeHttpListener();
  const one = await added(http(`http://127.0.0.1:${program.port}/events`));
  expect(textOf((await post(`${one}/test`)).body)).toContain('The test event arrived (HTTP 204,');
  expect(program.challenges).toBe(1);
  expect(JSON.parse(program.received[0]?.body ?? '')).toMatchObject({
    type: 'goal.reached',
    data: { test: true },
  });
  program.answer = (response) => void response.writeHead(503).end('maintenance');
  const failed = textOf((await post(`${one}/test`)).body);
  expect(failed).toContain('The test event did not arrive (HTTP 503,');
  expect(failed).toContain('It answered with an error of its own');
  expect(failed).toContain('(test)');
  expect(failed).not.toContain('Replay');
});

test('a test event in Discord, and of a webhook that was deleted', async () => {
  const one = await added(channel());
  expect(textOf((await post(`${one}/test`)).body)).toContain('The test event arrived');
  expect(discord.messages).toHaveLength(1);
  discord.deleteWebhook();
  expect(textOf((await post(`${one}/test`)).body)).toContain('the webhook does not exist any more');
});

test('an event of the log is sent again while it is stored', async () => {
  const one = await added(http());
  const { _id } = await only();
  const at = new Date();
  const event = {
    _id: 'evt_1',
    serverId,
    type: 'goal.reached',
    at,
    data: {},
    sends: [],
    createdAt: at,
  } as const;
  await web.deps.events.insertOne({ ...event, sends: [] });
  expect((await post(`${one}/replay`, { event: 'evt_1' })).headers.location).toBe(
    `${path()}${one}?done=replayed`,
  );
  expect((await web.deps.events.findOne({ _id: 'evt_1' }))?.sends).toMatchObject([{ to: _id, attempts: 0 }]);
  const gone = await post(`${one}/replay`, { event: 'evt_2' });
  expect(gone.statusCode).toBe(404);
  expect(textOf(gone.body)).toContain('This event is no longer stored');
});

test('a member who only reads sees the page and changes nothing; another owner sees nothing', async () => {
  const one = await added(http());
  const { revision } = await only();
  const [reader, other] = [await signIn(web), await signIn(web)];
  const members = [{ userId: reader.userId, role: 'read', at: new Date() } as const];
  await web.deps.servers.updateOne({ _id: serverId }, { $set: { members } });
  expect(await read(one, reader)).toContain('Raid bot');
  const forms = [
    '',
    one,
    ...['pause', 'resume', 'rotate', 'test', 'replay', 'remove'].map((part) => `${one}/${part}`),
  ];
  for (const part of [...forms, '/live', '/live/restart', '/live/remove']) {
    expect((await post(part, http(), reader)).statusCode).toBe(403);
    expect((await post(part, http(), other)).statusCode).toBe(404);
  }
  expect((await getPage(web, `${path()}${one}`, other.headers)).statusCode).toBe(404);
  expect(await only()).toMatchObject({ revision });
});

test('a subscription of another server is not found', async () => {
  const one = await added(http());
  const others = await addOwnedServer(web.deps, owner.userId);
  const there = `/dashboard/servers/${others.toHexString()}/events${one}`;
  expect((await getPage(web, there, owner.headers)).statusCode).toBe(404);
  expect((await sendForm(web, `${there}/pause`, {}, owner.headers)).statusCode).toBe(404);
  expect((await only()).pause).toBeUndefined();
});

test('a live status is set, started again after it stopped, and removed', async () => {
  expect((await post('/live', { webhook: 'https://example.org' })).statusCode).toBe(400);
  const set = await post('/live', { webhook: WEBHOOK_ADDRESS });
  expect(set.headers.location).toBe(`${path()}?done=live-set#live`);
  expect(await read()).toContain('not posted yet');
  expect((await post('/live/restart')).statusCode).toBe(409);
  const stopped = { at: new Date(), reason: 'deleted' } as const;
  await web.deps.liveMessages.updateOne({ serverId }, { $set: { stopped } });
  const page = (await getPage(web, path(), owner.headers)).body;
  expect(textOf(page)).toContain('Create a webhook in Discord and enter its address.');
  expect(page).not.toContain(WEBHOOK_TOKEN);
  expect((await post('/live/restart')).headers.location).toBe(`${path()}?done=live-restarted#live`);
  expect((await post('/live/remove')).headers.location).toBe(`${path()}?done=live-removed#live`);
  expect(await web.deps.liveMessages.countDocuments({ serverId, isCurrent: true })).toBe(0);
});

test('without a worker, a test says that nothing was sent', async () => {
  const alone = await openWebApp({ ...QUICK });
  const user = await signIn(alone);
  const id = await addOwnedServer(alone.deps, user.userId);
  const at = `/dashboard/servers/${id.toHexString()}/events`;
  await sendForm(alone, at, http(), user.headers);
  const [one] = await alone.deps.subscriptions.find({ serverId: id }).toArray();
  const tested = await sendForm(alone, `${at}/${one?._id.toHexString()}/test`, {}, user.headers);
  expect(tested.statusCode).toBe(503);
  expect(textOf(tested.body)).toContain('No worker is running, so nothing was checked or sent.');
}, 20_000);
