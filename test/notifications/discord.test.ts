import { ObjectId } from 'mongodb';
import { expect, test, vi } from 'vitest';
import { literal } from '../../src/events/discord/discord-embed.ts';
import { readWebhookAddress } from '../../src/events/discord/webhook-address.ts';
import { putDiscordMessage } from '../../src/mail/outbox.ts';
import { sendMessage } from '../../src/mail/send-mail.ts';
import { discordBody } from '../../src/notifications/discord/discord-body.ts';
import { sendDiscordMessage } from '../../src/notifications/discord/send-discord.ts';
import { testWebhook } from '../../src/notifications/discord/test-webhook.ts';
import { removeWebhook, setWebhook } from '../../src/notifications/discord/webhooks.ts';
import { after, HOUR, MINUTE, SECOND } from '../../src/platform/clock.ts';
import { WEBHOOK_ADDRESS, WEBHOOK_ID, WEBHOOK_TOKEN } from '../support/fake-discord.ts';
import { NEVER, type NotificationBench, notificationBench, unescaped } from './notification-bench.ts';

const SITE = { PUBLIC_URL: 'https://example.org', SERVICE_NAME: 'Tallyport' };

/** Puts a message for the server's webhook into the outbox. */
async function put({ deps, serverId }: NotificationBench, id = 'paused:1'): Promise<string> {
  const server = { _id: serverId, name: 'Alpha' };
  const notification = {
    id,
    tone: 'bad',
    subject: 'paused',
    paragraphs: ['It is paused:'],
    part: '/listener',
  } as const;
  const body = discordBody(
    SITE,
    server,
    { ...notification, paragraphs: [...notification.paragraphs] },
    new Date(),
  );
  const text = JSON.stringify(body);
  await putDiscordMessage(deps, { id, to: serverId.toHexString(), serverId, subject: 'paused', text });
  return id;
}

async function messageOf({ deps }: NotificationBench, id: string) {
  const found = await deps.discordMessages.findOne({ _id: id });
  if (!found) throw new Error(`no message ${id}`);
  return found;
}

test.each([
  WEBHOOK_ADDRESS,
  ` ${WEBHOOK_ADDRESS}/ `,
  WEBHOOK_ADDRESS.replace('discord.com', 'discordapp.com'),
  WEBHOOK_ADDRESS.replace('discord.com', 'ptb.discord.com'),
  WEBHOOK_ADDRESS.replace('discord.com', 'canary.discord.com'),
  WEBHOOK_ADDRESS.replace('/api/', '/api/v10/'),
])('the address of a webhook is accepted: %s', (address) => {
  expect(readWebhookAddress(address)).toEqual({ id: WEBHOOK_ID, token: WEBHOOK_TOKEN });
});

const THREAD = '1199999999999995678';

test('an address may name a thread, or a post of a forum', () => {
  const key = { id: WEBHOOK_ID, token: WEBHOOK_TOKEN, threadId: THREAD };
  expect(readWebhookAddress(` ${WEBHOOK_ADDRESS}?thread_id=${THREAD} `)).toEqual(key);
  expect(readWebhookAddress(`${WEBHOOK_ADDRESS}/?thread_id=${THREAD}`)).toEqual(key);
});

test.each([
  '',
  'alpha',
  WEBHOOK_ADDRESS.replace('https', 'http'),
  WEBHOOK_ADDRESS.replace('discord.com', 'discord.com.example.org'),
  WEBHOOK_ADDRESS.replace('discord.com', 'discord.com:8443'),
  WEBHOOK_ADDRESS.replace('discord.com', 'owner@discord.com'),
  WEBHOOK_ADDRESS.replace('discord.com', 'evildiscord.com'),
  `${WEBHOOK_ADDRESS}/slack`,
  `${WEBHOOK_ADDRESS}/../../users/@me`,
  `${WEBHOOK_ADDRESS}?wait=true`,
  `${WEBHOOK_ADDRESS}?thread_id=`,
  `${WEBHOOK_ADDRESS}?thread_id=general`,
  `${WEBHOOK_ADDRESS}?thread_id=12`,
  `${WEBHOOK_ADDRESS}?thread_id=${THREAD}&wait=true`,
  `${WEBHOOK_ADDRESS}?thread_id=${THREAD}&thread_id=${THREAD}`,
  `${WEBHOOK_ADDRESS}?thread_id=${THREAD}%26wait=true`,
  `${WEBHOOK_ADDRESS}?thread_id=${THREAD}#x`,
  `${WEBHOOK_ADDRESS}%0d%0aHost: example.org`,
  'https://discord.com/api/webhooks/1099999999999991234',
  'https://discord.com/channels/1099999999999991234/1',
])('another address is refused, and the error does not repeat it: %s', (address) => {
  const message = (() => {
    try {
      return JSON.stringify(readWebhookAddress(address));
    } catch (error) {
      return `refused ${String(error)}`;
    }
  })();
  expect(message).toContain('refused');
  expect(message).not.toContain(WEBHOOK_TOKEN);
});

test('the stored address is encrypted, and the audit log does not have it', async () => {
  const { deps, serverId, webhook } = await notificationBench();
  expect(await webhook()).toMatchObject({ ending: '1234', off: null });
  const audit = await deps.auditLog.find({ serverId, action: 'discord.set' }).toArray();
  expect(audit).toMatchObject([{ by: 'test', details: { ending: '1234' } }]);
  for (const stored of [await webhook(), audit, await deps.servers.findOne({ _id: serverId })]) {
    expect(JSON.stringify(stored)).not.toContain(WEBHOOK_TOKEN);
  }
});

test('no log line has the address, whatever Discord answers', async () => {
  const bench = await notificationBench({ env: { LISTENER_TIMEOUT_MS: '300' } });
  const { deps, discord, serverId } = bench;
  const levels = ['debug', 'info', 'warn', 'error'] as const;
  const spies = levels.map((level) => vi.spyOn(deps.log, level));
  const behaviours = [
    { kind: 'accept' },
    { kind: 'fail', status: 503 },
    { kind: 'fail', status: 400 },
    { kind: 'limit', retryAfter: 1 },
    { kind: 'hang' },
    { kind: 'cut' },
  ] as const;
  for (const [n, behaviour] of behaviours.entries()) {
    discord.behaviour = behaviour;
    await bench.send(await put(bench, `paused:${n}`));
    bench.clock.move(SECOND);
  }
  await setWebhook(deps, serverId, discord.address.replace(/z$/, 'y'), 'test');
  await bench.send(await put(bench, 'paused:401'));
  const lines = JSON.stringify(spies.flatMap((spy) => spy.mock.calls));
  for (const event of ['discord.sent', 'discord.failed', 'discord.off', 'discord.given_up'])
    expect(lines).toContain(event);
  expect(lines).not.toContain(WEBHOOK_TOKEN.slice(0, -1));
  const stored = await deps.discordMessages.find().toArray();
  expect(JSON.stringify(stored)).not.toContain(WEBHOOK_TOKEN.slice(0, -1));
});

test('a message is sent once and mentions nobody; then its text is removed', async () => {
  const bench = await notificationBench();
  const id = await put(bench);
  const [job] = await bench.deps.queues['send-discord'].getJobs();
  expect(job?.data).toEqual({ messageId: id });
  const ends = await Promise.all(Array.from({ length: 6 }, () => bench.send(id)));
  expect(ends.toSorted()).toEqual([...Array(5).fill('not-due'), 'sent']);
  expect(bench.discord.messages).toMatchObject([{ allowed_mentions: { parse: [] } }]);
  expect(await messageOf(bench, id)).not.toHaveProperty('sealedText');
  expect(await bench.sendDue()).toEqual([]);
});

test.each([
  ['deleted', (bench: NotificationBench) => bench.discord.deleteWebhook()],
  [
    'unauthorized',
    ({ deps, serverId, discord }: NotificationBench) =>
      setWebhook(deps, serverId, discord.address.replace(/z$/, 'y'), 'test'),
  ],
  [
    'needs-thread',
    ({ discord }: NotificationBench) => {
      discord.channel = 'forum';
    },
  ],
  [
    'no-forum',
    ({ discord }: NotificationBench) => {
      discord.behaviour = { kind: 'refuse', status: 400, code: 220_003 };
    },
  ],
  [
    'thread-gone',
    ({ deps, serverId, discord }: NotificationBench) =>
      setWebhook(deps, serverId, `${discord.address}?thread_id=${THREAD}`, 'test'),
  ],
  [
    'thread-gone',
    ({ deps, serverId, discord }: NotificationBench) => {
      discord.threads.set(THREAD, 'locked');
      return setWebhook(deps, serverId, `${discord.address}?thread_id=${THREAD}`, 'test');
    },
  ],
] as const)('a webhook that is %s is switched off once, and its owner gets a mail', async (reason, spoil) => {
  const bench = await notificationBench();
  await spoil(bench);
  const first = await put(bench, 'paused:1');
  const second = await put(bench, 'paused:2');
  expect(await bench.send(first)).toBe('given-up');
  expect((await bench.webhook())?.off).toMatchObject({ reason });
  const requests = bench.discord.requests;
  expect(await bench.send(second)).toBe('given-up');
  expect(bench.discord.requests).toBe(requests);
  const [letter, ...more] = await bench.mails();
  expect(more).toEqual([]);
  expect(letter).toMatchObject({
    to: 'olivia@example.org',
    subject: 'Alpha Craft: messages to Discord are off',
  });
  expect(letter?.text).toContain('/settings#discord');
  expect(letter?.text).not.toContain(WEBHOOK_TOKEN);
});

test('a webhook that was replaced meanwhile stays on', async () => {
  const bench = await notificationBench();
  const { deps, serverId, discord } = bench;
  const old = await bench.webhook();
  discord.deleteWebhook();
  const id = await put(bench);
  const racing = {
    ...deps,
    // The owner saves a new address while the request is under way.
    discordWebhooks: Object.assign(Object.create(deps.discordWebhooks), {
      findOne: async () => {
        await setWebhook(deps, serverId, WEBHOOK_ADDRESS, 'test');
        return old;
      },
    }),
  };
  expect(await sendDiscordMessage(racing, id, NEVER)).toBe('given-up');
  expect(await bench.webhook()).toMatchObject({ off: null });
});

test.each([
  [2.5, 2_500],
  [0, SECOND],
])('after “too many messages” with retry_after %d the next attempt is %d ms later', async (seconds, wait) => {
  const bench = await notificationBench();
  bench.clock.stop(new Date());
  bench.discord.behaviour = { kind: 'limit', retryAfter: seconds };
  const id = await put(bench);
  expect(await bench.send(id)).toBe('failed');
  const { nextAt, createdAt } = await messageOf(bench, id);
  expect((nextAt?.getTime() ?? 0) - createdAt.getTime()).toBe(wait);
  bench.discord.behaviour = { kind: 'accept' };
  bench.clock.move(wait - 1);
  expect(await bench.send(id)).toBe('not-due');
  bench.clock.move(1);
  expect(await bench.send(id)).toBe('sent');
  expect(bench.discord.messages).toHaveLength(1);
});

test.each([
  ['fails', { kind: 'fail', status: 503 }],
  ['has its firewall before us', { kind: 'fail', status: 403 }],
  ['redirects', { kind: 'fail', status: 302 }],
  ['answers nothing', { kind: 'hang' }],
  ['sends its answer byte by byte', { kind: 'drip' }],
] as const)('while Discord %s a message is retried, and given up after six hours', async (_, behaviour) => {
  const bench = await notificationBench({ env: { LISTENER_TIMEOUT_MS: '300' } });
  bench.discord.behaviour = behaviour;
  const id = await put(bench);
  expect(await bench.send(id)).toBe('failed');
  expect((await messageOf(bench, id)).nextAt).toBeInstanceOf(Date);
  expect(await bench.webhook()).toMatchObject({ off: null });
  bench.clock.move(6 * HOUR);
  expect(await bench.send(id)).toBe('given-up');
  expect(await bench.send(id)).toBe('not-due');
  expect(await messageOf(bench, id)).not.toHaveProperty('sealedText');
});

test('a message goes to the thread that the address names, which is stored encrypted', async () => {
  const bench = await notificationBench();
  const { deps, serverId, discord } = bench;
  discord.channel = 'forum';
  discord.threads.set(THREAD, 'open');
  await setWebhook(deps, serverId, `${discord.address}?thread_id=${THREAD}`, 'test');
  expect(await bench.send(await put(bench))).toBe('sent');
  expect(discord.postedTo).toEqual([THREAD]);
  expect(JSON.stringify(await bench.webhook())).not.toContain(THREAD);
});

test('the owner of a forum channel is told in the mail how to name a post', async () => {
  const bench = await notificationBench();
  bench.discord.channel = 'forum';
  await bench.send(await put(bench));
  const [letter] = await bench.mails();
  expect(letter?.text).toContain('its address names no post of it (Discord: 220001)');
  expect(letter?.text).toContain('?thread_id=');
});

test('a webhook that refuses a message is marked as failing until it accepts one, and its owner gets one mail', async () => {
  const bench = await notificationBench();
  bench.discord.behaviour = { kind: 'refuse', status: 400, code: 50_035 };
  expect(await bench.send(await put(bench, 'paused:1'))).toBe('given-up');
  expect(await bench.send(await put(bench, 'paused:2'))).toBe('given-up');
  expect(await bench.webhook()).toMatchObject({ off: null, failing: { reason: 'HTTP 400, 50035' } });
  const [letter, ...more] = await bench.mails();
  expect(more).toEqual([]);
  expect(letter).toMatchObject({ subject: 'Alpha Craft: Discord refuses messages' });
  expect(letter?.text).toContain('(HTTP 400, 50035)');
  bench.discord.behaviour = { kind: 'accept' };
  expect(await bench.send(await put(bench, 'paused:3'))).toBe('sent');
  expect(await bench.webhook()).toMatchObject({ failing: null });
});

test('a message that Discord never accepts is given up at once, and the webhook stays on', async () => {
  const bench = await notificationBench();
  bench.discord.behaviour = { kind: 'fail', status: 400 };
  expect(await bench.send(await put(bench))).toBe('given-up');
  expect(await bench.webhook()).toMatchObject({ off: null });
});

test('no connection is opened to an address that the operator refuses', async () => {
  const bench = await notificationBench({ env: { REFUSED_RANGES: '127.0.0.0/8' } });
  expect(await bench.send(await put(bench))).toBe('failed');
  expect(bench.discord.requests).toBe(0);
});

test('a message claimed by a worker that died is sent by another one after the lease, once', async () => {
  const bench = await notificationBench();
  const { deps, discord } = bench;
  const id = await put(bench);
  const dying = {
    ...deps,
    messages: deps.discordMessages,
    channel: 'discord' as const,
    givenUpMs: HOUR,
    send: () => Promise.reject(new Error('killed between the claim and the request')),
  };
  await expect(sendMessage(dying, id, NEVER)).rejects.toThrow('killed');
  expect(await bench.send(id)).toBe('not-due');
  await deps.discordMessages.updateOne({ _id: id }, { $set: { leaseUntil: new Date(0) } });
  expect(await bench.send(id)).toBe('sent');
  expect(discord.messages).toHaveLength(1);
});

test('a message whose answer was lost is sent again: it may arrive twice', async () => {
  const bench = await notificationBench();
  bench.discord.behaviour = { kind: 'cut' };
  const id = await put(bench);
  expect(await bench.send(id)).toBe('failed');
  bench.discord.behaviour = { kind: 'accept' };
  bench.clock.move(2 * MINUTE);
  expect(await bench.send(id)).toBe('sent');
  expect(bench.discord.messages).toHaveLength(2);
  expect(await bench.send(id)).toBe('not-due');
});

test('messages of a removed webhook are not sent', async () => {
  const bench = await notificationBench();
  const id = await put(bench);
  expect(await removeWebhook(bench.deps, bench.serverId, 'test')).toBe(true);
  expect(await removeWebhook(bench.deps, bench.serverId, 'test')).toBe(false);
  expect(await bench.send(id)).toBe('given-up');
  expect(bench.discord.requests).toBe(0);
});

test('a webhook sealed under a lost key is found unreadable, and its messages are given up', async () => {
  const bench = await notificationBench();
  const { deps, serverId } = bench;
  await deps.discordWebhooks.updateOne({ _id: serverId }, { $set: { sealed: 'v1.00000000.AA.AA.AA' } });
  expect(await bench.send(await put(bench))).toBe('given-up');
  const server = await deps.servers.findOne({ _id: serverId });
  if (!server) throw new Error('no server');
  expect(await testWebhook(deps, server, NEVER)).toEqual({ kind: 'unreadable' });
});

test('a test message that arrives switches a webhook on again', async () => {
  const { deps, serverId, webhook, discord } = await notificationBench();
  await deps.discordWebhooks.updateOne(
    { _id: serverId },
    { $set: { off: { at: after(new Date(), -HOUR), reason: 'deleted' } } },
  );
  const server = await deps.servers.findOne({ _id: serverId });
  if (!server) throw new Error('no server');
  expect(await testWebhook(deps, server, NEVER)).toMatchObject({ kind: 'sent' });
  expect(await webhook()).toMatchObject({ off: null });
  discord.deleteWebhook();
  expect(await testWebhook(deps, server, NEVER)).toEqual({ kind: 'deleted' });
  expect((await webhook())?.off).toMatchObject({ reason: 'deleted' });
});

const HOSTILE = [
  '@everyone <@1099999999999991234> <@&2> <#3>',
  '**bold** __line__ ~~gone~~ `code` ||spoiler|| *x* _y_',
  '[click](https://evil.example) https://evil.example <https://evil.example>',
  '# Heading\n> quote\n- item\n1. item\n-# small',
  '<:smile:1> :smile: <t:0:R> </vote:1>',
  '\\*already escaped\\*',
];

test.each(HOSTILE)('Discord shows the text as it is: %j', (text) => {
  const written = literal(text, 4_000);
  expect(unescaped(written)).toBe(text);
  // Every mark-up character has a backslash of its own.
  expect(written.replace(/\\[^0-9A-Za-z\s]/g, '')).not.toMatch(/[!-/:-@[-`{-~]/);
});

test('a text is cut to its limit, never between a backslash and its character', () => {
  for (const most of [10, 11, 12, 13]) {
    const written = literal('*'.repeat(50), most);
    expect(written.length).toBeLessThanOrEqual(most);
    expect(written).toMatch(/^(\\\*)+…$/);
  }
  expect(literal('\u{1f600}'.repeat(20), 9)).toBe(`${'\u{1f600}'.repeat(4)}…`);
  expect(literal('a\u{202e}b\u{7}c\nd', 20)).toBe('a\u{fffd}b\u{fffd}c\nd');
});

test('the longest notification stays within the limits of Discord', () => {
  const notification = {
    id: 'x',
    tone: 'bad' as const,
    subject: '*'.repeat(200),
    paragraphs: Array.from({ length: 10 }, () => '_'.repeat(1_000)),
    part: '/listener',
  };
  const server = { _id: new ObjectId(), name: '`'.repeat(100) };
  const { embeds } = JSON.parse(JSON.stringify(discordBody(SITE, server, notification, new Date())));
  expect(embeds[0].title.length).toBeLessThanOrEqual(256);
  expect(embeds[0].description.length).toBeLessThanOrEqual(4_096);
  expect(embeds[0].description).toMatch(
    /\n\nhttps:\/\/example\.org\/dashboard\/servers\/[0-9a-f]{24}\/listener$/,
  );
});
