import { expect, test } from 'vitest';
import {
  deleteMessage,
  editMessage,
  postMessage,
  readWebhook,
} from '../../src/events/discord/discord-client.ts';
import { DAY, HOUR, MINUTE, SECOND } from '../../src/platform/clock.ts';
import { WEBHOOK_TOKEN } from '../support/fake-discord.ts';
import { type DiscordBench, discordBench, NEVER } from './discord-bench.ts';

const BODY = { content: 'Hello', allowed_mentions: { parse: [] } };
const THREAD = '1199999999999995678';

function post({ deps, key }: DiscordBench, at = key) {
  return postMessage(deps, at, BODY, NEVER, { readsAnswer: true });
}

async function idOf(bench: DiscordBench): Promise<string> {
  const posted = await post(bench);
  if (posted.kind !== 'sent') throw new Error(posted.kind);
  return String(posted.answer.id);
}

test('a message is posted, edited and deleted by its id; the webhook tells its name', async () => {
  const bench = await discordBench();
  const { deps, key, discord } = bench;
  expect(await readWebhook(deps, key, NEVER)).toMatchObject({
    kind: 'sent',
    answer: { name: 'Captain Hook' },
  });
  const id = await idOf(bench);
  expect(discord.shown.get(id)).toMatchObject({ content: 'Hello' });
  expect(await editMessage(deps, key, id, { content: 'Bye' }, NEVER)).toMatchObject({ kind: 'sent' });
  expect(discord.shown.get(id)).toMatchObject({ content: 'Bye', edits: [expect.any(Date)] });
  expect(await deleteMessage(deps, key, id, NEVER)).toMatchObject({ kind: 'sent', status: 204 });
  expect(await editMessage(deps, key, id, BODY, NEVER)).toEqual({ kind: 'no-message' });
  expect(discord.answers.map(({ method }) => method)).toEqual(['GET', 'POST', 'PATCH', 'DELETE', 'PATCH']);
});

test('the id is read from the longest answer', async () => {
  const { deps, key, discord } = await discordBench();
  const embeds = Array.from({ length: 10 }, (_, n) => ({
    title: `${n}`,
    description: '\u{1f600}'.repeat(290),
  }));
  const posted = await postMessage(deps, key, { embeds }, NEVER, { readsAnswer: true });
  expect(posted).toMatchObject({ kind: 'sent', answer: { id: [...discord.shown.keys()][0] } });
});

test('a thread is named in each request about its messages', async () => {
  const bench = await discordBench();
  const { deps, discord } = bench;
  const key = { ...bench.key, threadId: THREAD };
  discord.channel = 'forum';
  expect(await post(bench)).toEqual({ kind: 'needs-thread' });
  expect(await post(bench, key)).toEqual({ kind: 'thread-gone' });
  discord.threads.set(THREAD, 'open');
  const posted = await post(bench, key);
  const id = posted.kind === 'sent' ? String(posted.answer.id) : '';
  expect(await editMessage(deps, bench.key, id, BODY, NEVER)).toEqual({ kind: 'no-message' });
  expect(await editMessage(deps, key, id, BODY, NEVER)).toMatchObject({ kind: 'sent' });
  discord.threads.set(THREAD, 'locked');
  bench.clock.move(2 * SECOND);
  expect(await editMessage(deps, key, id, BODY, NEVER)).toEqual({ kind: 'thread-gone' });
});

test('a deleted webhook and a wrong token are recognised, and no answer repeats the token', async () => {
  const bench = await discordBench();
  const { discord, key } = bench;
  expect(await post(bench, { ...key, token: `${key.token}x` })).toEqual({ kind: 'unauthorized' });
  discord.next = [{ kind: 'fail', status: 503 }];
  const failed = await post(bench);
  expect(failed).toMatchObject({ kind: 'unavailable', status: 503, mayHaveArrived: true });
  expect(JSON.stringify(failed)).not.toContain(WEBHOOK_TOKEN);
  discord.deleteWebhook();
  expect(await post(bench)).toEqual({ kind: 'deleted' });
});

test.each([
  ['hang', true],
  ['cut', true],
  ['drip', true],
] as const)('if Discord is in state “%s”, the message may have arrived', async (kind, mayHaveArrived) => {
  const bench = await discordBench({ LISTENER_TIMEOUT_MS: '300' });
  bench.discord.next = [{ kind }];
  expect(await post(bench)).toMatchObject({ kind: 'unavailable', mayHaveArrived });
});

test('if there is no connection, the message has surely not arrived', async () => {
  const bench = await discordBench({ DISCORD_API_URL: 'http://127.0.0.1:9/api' });
  expect(await post(bench)).toMatchObject({ kind: 'unavailable', mayHaveArrived: false });
});

test('no connection is opened to an address that the operator refuses', async () => {
  const bench = await discordBench({ REFUSED_RANGES: '127.0.0.0/8' });
  expect(await post(bench)).toEqual({ kind: 'blocked' });
  expect(bench.discord.requests).toBe(0);
});

test('after five requests in two seconds, a webhook waits for the time that Discord names, and is not asked', async () => {
  const bench = await discordBench();
  for (let n = 0; n < 5; n += 1) expect(await post(bench)).toMatchObject({ kind: 'sent' });
  expect(await post(bench)).toEqual({ kind: 'limited', retryAfterMs: 2 * SECOND });
  bench.clock.move(2 * SECOND - 1);
  expect(await post(bench)).toEqual({ kind: 'limited', retryAfterMs: 1 });
  bench.clock.move(1);
  expect(await post(bench)).toMatchObject({ kind: 'sent' });
  expect(bench.discord.requests).toBe(6);
});

test('a webhook gets at most 30 requests in a minute, and Discord never has to refuse one', async () => {
  const bench = await discordBench();
  const began = bench.clock.now().getTime();
  const times: number[] = [];
  while (times.length < 65) {
    const posted = await post(bench);
    if (posted.kind === 'limited') bench.clock.move(posted.retryAfterMs);
    else times.push(bench.clock.now().getTime() - began);
  }
  expect(times.filter((time) => time < MINUTE)).toHaveLength(30);
  expect(times.filter((time) => time < 2 * MINUTE)).toHaveLength(60);
  expect(bench.complaints()).toEqual([]);
});

test('a webhook that is limited delays no other one; a global limit delays all, in every process', async () => {
  const bench = await discordBench();
  const { deps, discord, clock } = bench;
  const other = { ...bench.key, id: '1099999999999995555' };
  discord.next = [{ kind: 'limit', retryAfter: 7.5 }];
  expect(await post(bench)).toMatchObject({ kind: 'limited', retryAfterMs: 7_500 });
  expect(await post(bench)).toEqual({ kind: 'limited', retryAfterMs: 7_500 });
  expect(await post(bench, other)).toEqual({ kind: 'deleted' });
  clock.move(7_500);
  discord.next = [{ kind: 'limit', retryAfter: 3, scope: 'global' }];
  await post(bench);
  const elsewhere = { ...deps };
  expect(await postMessage(elsewhere, other, BODY, NEVER)).toEqual({ kind: 'limited', retryAfterMs: 3_000 });
  clock.move(3_000);
  expect(await post(bench)).toMatchObject({ kind: 'sent' });
});

test('a block by the firewall in front of Discord delays all webhooks as long as its header says', async () => {
  const bench = await discordBench();
  bench.discord.next = [{ kind: 'block', retryAfter: 2 * 3_600 }];
  expect(await post(bench)).toMatchObject({ kind: 'limited', retryAfterMs: 2 * HOUR });
  const other = { ...bench.key, id: '1099999999999995555' };
  expect(await post(bench, other)).toEqual({ kind: 'limited', retryAfterMs: 2 * HOUR });
});

test.each([
  [0, SECOND],
  [90_000, DAY],
])('a requested delay of %d s is limited to %d ms', async (retryAfter, wait) => {
  const bench = await discordBench();
  bench.discord.next = [{ kind: 'limit', retryAfter }];
  expect(await post(bench)).toMatchObject({ kind: 'limited', retryAfterMs: wait });
});

test('the limit of edits of an old message delays no other message', async () => {
  const bench = await discordBench();
  const { deps, key, discord } = bench;
  const id = await idOf(bench);
  discord.next = [{ kind: 'limit', retryAfter: 600, code: 30_046 }];
  expect(await editMessage(deps, key, id, BODY, NEVER)).toMatchObject({ retryAfterMs: 600_000 });
  expect(await post(bench)).toMatchObject({ kind: 'sent' });
});

test('refusals that Discord counts against our address end before it would block it', async () => {
  const bench = await discordBench();
  const { deps, key, discord, clock } = bench;
  await deps.rateLimits.insertOne({
    _id: 'discord:invalid',
    count: 1_999,
    resetAt: new Date(clock.now().getTime() + 5 * MINUTE),
  });
  expect(await post(bench, { ...key, token: `${key.token}x` })).toEqual({ kind: 'unauthorized' });
  expect(await post(bench)).toMatchObject({ kind: 'sent' });
  discord.next = [{ kind: 'fail', status: 403 }];
  expect(await post(bench)).toMatchObject({ kind: 'unavailable', mayHaveArrived: false });
  expect(await post(bench)).toEqual({ kind: 'limited', retryAfterMs: 5 * MINUTE });
  expect(discord.requests).toBe(3);
});

test('the number of requests of all webhooks in a second is limited', async () => {
  const bench = await discordBench();
  const ids = Array.from({ length: 30 }, (_, n) => String(1_099_999_999_999_990_000n + BigInt(n)));
  const answers = [];
  for (const id of ids) answers.push((await post(bench, { ...bench.key, id })).kind);
  expect(answers.filter((kind) => kind === 'deleted')).toHaveLength(25);
  expect(answers.slice(25)).toEqual(Array(5).fill('limited'));
  bench.clock.move(SECOND);
  expect(await post(bench)).toMatchObject({ kind: 'sent' });
});
