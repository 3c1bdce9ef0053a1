import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DAY } from '../../src/platform/clock.ts';
import { startApp, type TestDeps, type TestServer } from '../support/start-app.ts';

let tallyport: TestDeps;
beforeAll(async () => {
  tallyport = await startApp();
});
afterAll(() => tallyport.close());

const votesOf = ({ serverId }: TestServer) => tallyport.deps.votes.countDocuments({ serverId });
const vote = (server: TestServer, username: string, key: string) =>
  tallyport.vote(server, username, { 'idempotency-key': key });

test('the same key and username replay the first 200 byte for byte and cast nothing', async () => {
  const server = await tallyport.addServer();
  const key = randomUUID();
  const first = await vote(server, 'Steve', key);
  await tallyport.vote(server, 'Alex');
  tallyport.clock.move(DAY - 60_000);
  const second = await vote(server, '  Steve ', key);

  expect(first.status).toBe(200);
  expect(second.status).toBe(200);
  expect(second.text).toBe(first.text);
  expect(second.headers.get('vote-id')).toBe(first.headers.get('vote-id'));
  const replayed = [first, second].map(({ headers }) => headers.get('idempotent-replayed'));
  expect(replayed).toEqual([null, 'true']);
  expect(second.headers.get('ratelimit')).toMatch(/^"vote";r=0;t=(59|60)$/);
  expect(await votesOf(server)).toBe(2);
});

test('concurrent requests with one key are one vote and one answer', async () => {
  const server = await tallyport.addServer();
  const answers = await Promise.all(Array.from({ length: 20 }, () => vote(server, 'Steve', 'race')));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
  expect(new Set(answers.map(({ headers }) => headers.get('vote-id'))).size).toBe(1);
  expect(await votesOf(server)).toBe(1);
});

test('a key with another username is refused with 422', async () => {
  const server = await tallyport.addServer();
  await vote(server, 'Steve', 'key');
  // The same player in another spelling is another username.
  for (const other of ['Alex', 'steve']) {
    const refused = await vote(server, other, 'key');
    expect([refused.status, refused.body]).toMatchObject([
      422,
      {
        error: 'This Idempotency-Key was used for the username "Steve": use a new key for each vote.',
        code: 'idempotency-key-reused',
      },
    ]);
  }
  expect(await votesOf(server)).toBe(1);
});

test('a malformed username is reported before a used key', async () => {
  const server = await tallyport.addServer();
  await vote(server, 'Steve', 'key');
  expect((await vote(server, '', 'key')).status).toBe(400);
});

test('after a 429 or a 400 the key can be used again', async () => {
  const server = await tallyport.addServer();
  await tallyport.vote(server, 'Steve');
  expect((await vote(server, 'Steve', 'key')).status).toBe(429);
  expect((await vote(server, '', 'key')).status).toBe(400);
  expect((await vote(server, 'Alex', 'key')).status).toBe(200);
});

test('keys belong to a server, and expire after 24 hours', async () => {
  const server = await tallyport.addServer();
  const other = await tallyport.addServer();
  const first = await vote(server, 'Steve', 'key');
  expect((await vote(other, 'Alex', 'key')).status).toBe(200);
  tallyport.clock.move(DAY);
  const later = await vote(server, 'Steve', 'key');
  expect(later.status).toBe(200);
  expect(later.headers.get('vote-id')).not.toBe(first.headers.get('vote-id'));
  expect(await votesOf(server)).toBe(2);
});

test.each([
  ['one character', 'x'],
  ['255 characters', '~'.repeat(255)],
  ['quotation marks', '"!#"'],
])('a key may be %s', async (_, key) => {
  const server = await tallyport.addServer();
  const first = await vote(server, 'Steve', key);
  expect([first.status, (await vote(server, 'Steve', key)).text]).toEqual([200, first.text]);
});

test.each([
  ['256 characters', 'x'.repeat(256)],
  ['empty', ''],
  ['with a space', 'a b'],
  ['not ASCII', 'schl\u00fcssel'],
])('a key that is %s is refused', async (_, key) => {
  const refused = await vote(await tallyport.addServer(), 'Steve', key);
  expect([refused.status, refused.body]).toMatchObject([
    400,
    { error: 'Idempotency-Key must be 1 to 255 visible ASCII characters, given once.', code: 'malformed' },
  ]);
});
