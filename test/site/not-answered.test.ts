import { beforeAll, expect, test } from 'vitest';
import { askerWith } from '../support/answering.ts';
import { openDeliveryDeps } from '../support/delivering.ts';
import { getPage, openWebAppOn, sendForm, textOf } from '../support/web-app.ts';
import { type OwnerApp, ownerFixture } from './owner-fixture.ts';

/** A site without a worker. Its web process waits for a worker only a short time. */
let web: OwnerApp;

beforeAll(async () => {
  const opened = await openDeliveryDeps();
  const deps = { ...opened, answers: askerWith(opened, { beginMs: 100 }) };
  web = { ...(await openWebAppOn(deps)), deps };
});

const NO_WORKER = 'No worker is running, so nothing was checked or sent.';

test('without a worker the page of a listener’s test says so', async () => {
  const fixture = await ownerFixture(web);
  const tested = await fixture.post('/listener/test');
  expect([tested.statusCode, textOf(tested.body)]).toEqual([503, expect.stringContaining(NO_WORKER)]);
  expect(fixture.listener.connections).toBe(0);
});

test('without a worker a listener is saved, and its page says that there was no test', async () => {
  const fixture = await ownerFixture(web);
  const { port, token: secret } = fixture.listener;
  const form = { protocol: 'votifier-v2', host: '127.0.0.1', port: String(port), serviceName: 'T', secret };
  const saved = await fixture.post('/listener', form);
  expect(saved.statusCode).toBe(200);
  expect(textOf(saved.body)).toMatch(/Vote listener saved\..*No worker is running/);
});

test('without a worker a new server is kept as a draft, and the page says so in the reader’s language', async () => {
  const { owner } = await ownerFixture(web);
  const fields = { name: 'Mine', address: '127.0.0.1', port: '9', game: 'Minecraft', queryPort: '' };
  const headers = { ...owner.headers, 'accept-language': 'de' };
  const form = { ...fields, countryCode: '' };
  const added = await sendForm(web, '/dashboard/servers/new', form, headers);
  expect([added.statusCode, textOf(added.body)]).toEqual([
    503,
    expect.stringContaining('Es läuft kein Worker'),
  ]);
  const [draft] = await web.deps.serverDrafts.find({ ownerId: owner.userId }).toArray();
  const path = `/dashboard/drafts/${draft?._id.toHexString()}`;
  expect((await getPage(web, path, owner.headers)).statusCode).toBe(200);
  const checked = await sendForm(web, `${path}/check`, {}, owner.headers);
  expect([checked.statusCode, textOf(checked.body)]).toEqual([503, expect.stringContaining(NO_WORKER)]);
});
