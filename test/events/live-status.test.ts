import { ObjectId } from 'mongodb';
import { expect, test, vi } from 'vitest';
import { dueLiveMessages } from '../../src/events/live-status/due-live-messages.ts';
import {
  removeLiveMessage,
  restartLiveMessage,
  setLiveMessage,
} from '../../src/events/live-status/live-messages.ts';
import { updateLiveMessage } from '../../src/events/live-status/update-live-message.ts';
import { setGoal } from '../../src/goals/change-goal.ts';
import { countGoal } from '../../src/goals/count-goal.ts';
import { after, DAY, HOUR, MINUTE, SECOND } from '../../src/platform/clock.ts';
import { pauseListing, resumeListing } from '../../src/workflows/pause-listing.ts';
import { removeServer } from '../../src/workflows/remove-server.ts';
import { transferServer } from '../../src/workflows/transfer-server.ts';
import { castVote } from '../support/casting.ts';
import { WEBHOOK_ADDRESS, WEBHOOK_TOKEN } from '../support/fake-discord.ts';
import { addOwner } from '../support/owned-server.ts';
import { type DiscordBench, NEVER } from './discord-bench.ts';
import { type LiveBench, liveBench } from './live-bench.ts';

/** As after the death of the worker that had it. */
async function freeLease({ deps }: DiscordBench) {
  await deps.liveMessages.updateMany({}, { $set: { leaseUntil: new Date(0) } });
}

test('one message shows state, players, address, rank, goal and the link to vote', async () => {
  const bench = await liveBench();
  const { deps, serverId } = bench;
  await bench.players(25);
  await deps.servers.updateOne(
    { _id: serverId },
    { $set: { rankPosition: 1_234, ranked: { votesCount: 1, probedUptime: null } } },
  );
  await setGoal(deps, serverId, { target: '4', period: 'rolling', text: 'Double *experience*' }, 'test');
  await castVote(deps, { serverId, username: 'Steve', tokenId: null });
  await bench.set();
  expect(await bench.run()).toBe('edited');
  expect(bench.shown()).toEqual([
    [
      'Alpha Craft',
      '\u{1f7e2} **Online**',
      '**[Vote for this server](https://example.org/listing/servers/alpha-craft/vote)**',
      'Players: ▰▰▰▱▱▱▱▱▱▱▱▱ 25 of 100',
      'Address: play.example.org:25565',
      'Rank: #1,234',
      'Vote goal: ▰▰▰▱▱▱▱▱▱▱▱▱ 1 of 4 votes',
      'Double *experience*',
    ].join('\n'),
  ]);
  expect(bench.discord.messages[0]?.allowed_mentions).toEqual({ parse: [] });
  expect(await bench.live()).toMatchObject({ webhookName: 'Captain Hook', ending: '1234', posts: 0 });
});

test('in a pause the message says so, with the date and the sentence, and has no link to vote', async () => {
  const bench = await liveBench();
  const { deps, serverId, clock } = bench;
  await deps.servers.updateOne({ _id: serverId }, { $set: { game: 'minecraft' } });
  await bench.players(25);
  await bench.set();
  await bench.run();
  const until = after(clock.now(), 9 * DAY);
  await pauseListing(deps, serverId, { until, text: 'Season *over*' }, 'test');
  clock.move(MINUTE);
  expect(await bench.minute()).toEqual(['edited']);
  expect(bench.shown()[0]).toContain(
    `**Paused**, back <t:${Math.floor(until.getTime() / SECOND)}:D>\nSeason *over*`,
  );
  expect(bench.shown()[0]).not.toMatch(/Vote for this server|Players/);
  await resumeListing(deps, serverId, 'test');
  await bench.players(3);
  clock.move(MINUTE);
  expect(await bench.minute()).toEqual(['edited']);
  expect(bench.shown()[0]).toContain('Vote for this server');
});

test('the address is stored encrypted, and neither the audit log nor the log has it', async () => {
  const bench = await liveBench();
  const { deps, serverId, discord } = bench;
  const spies = (['debug', 'info', 'warn', 'error'] as const).map((level) => vi.spyOn(deps.log, level));
  await bench.set();
  discord.next = [{ kind: 'fail', status: 503 }];
  await bench.run();
  bench.clock.move(MINUTE);
  await bench.run();
  await removeLiveMessage(deps, serverId, 'olivia@example.org');
  const stored = await deps.liveMessages.find().toArray();
  const audit = await deps.auditLog.find({ serverId, action: /^live/ }).sort({ at: 1 }).toArray();
  expect(audit.map(({ action, by, details }) => [action, by, details])).toEqual([
    ['live.set', 'olivia@example.org', { ending: '1234' }],
    ['live.remove', 'olivia@example.org', { ending: '1234' }],
  ]);
  const lines = spies.flatMap((spy) => spy.mock.calls);
  expect(JSON.stringify([stored, audit, lines])).not.toContain(WEBHOOK_TOKEN);
});

test('it is edited only if something changed, and at most once a minute', async () => {
  const bench = await liveBench();
  await bench.players(10);
  await bench.set();
  expect(await bench.minute()).toEqual(['edited']);
  bench.clock.move(MINUTE);
  expect(await bench.minute()).toEqual([]);
  await bench.players(11);
  expect(await bench.minute()).toEqual(['edited']);
  await bench.players(12);
  bench.clock.move(30 * SECOND);
  expect(await bench.minute()).toEqual([]);
  expect(await bench.run()).toBe('not-due');
  bench.clock.move(30 * SECOND);
  expect(await bench.minute()).toEqual(['edited']);
  const [{ edits } = { edits: [] }] = [...bench.discord.shown.values()];
  expect(edits).toHaveLength(3);
  expect(bench.shown()[0]).toContain('12 of 100');
});

test('a state that becomes unknown because no check was made is shown', async () => {
  const bench = await liveBench();
  await bench.players(10);
  await bench.set();
  await bench.minute();
  bench.clock.move(HOUR);
  expect(await bench.minute()).toEqual(['edited']);
  expect(bench.shown()[0]).toContain('**Status unknown**');
  expect(bench.shown()[0]).not.toContain('Players');
});

test('votes move the bar of a goal; a removed goal leaves no line', async () => {
  const bench = await liveBench();
  const { deps, serverId } = bench;
  await setGoal(deps, serverId, { target: '2', period: 'day' }, 'test');
  await bench.set();
  await bench.minute();
  expect(bench.shown()[0]).toContain('▱▱▱▱▱▱▱▱▱▱▱▱ 0 of 2 votes today');
  bench.clock.move(MINUTE);
  await castVote(deps, { serverId, username: 'Steve', tokenId: null });
  bench.clock.move(MINUTE);
  await countGoal(deps, serverId);
  expect(await bench.minute()).toEqual(['edited']);
  expect(bench.shown()[0]).toContain('1 of 2 votes today');
  await deps.voteGoals.deleteOne({ serverId });
  bench.clock.move(MINUTE);
  await bench.minute();
  expect(bench.shown()[0]).not.toContain('Vote goal');
});

test('a message that was deleted in Discord is made again at the next change', async () => {
  const bench = await liveBench();
  await bench.players(1);
  await bench.set();
  await bench.minute();
  const [first = ''] = [...bench.discord.shown.keys()];
  bench.discord.deleteMessage(first);
  bench.clock.move(MINUTE);
  await bench.players(2);
  expect(await bench.minute()).toEqual(['edited']);
  expect([...bench.discord.shown.keys()]).not.toContain(first);
  expect(bench.shown()).toEqual([expect.stringContaining('2 of 100')]);
});

test('a message that was deleted is made again within 15 minutes, although nothing changed', async () => {
  const bench = await liveBench();
  const { discord, clock, deps, serverId } = bench;
  await deps.servers.updateOne({ _id: serverId }, { $set: { 'probe.intervalSeconds': 86_400 } });
  await bench.players(1);
  await bench.set();
  await bench.minute();
  clock.move(15 * MINUTE);
  expect(await bench.minute()).toEqual(['unchanged']);
  clock.move(14 * MINUTE);
  expect(await bench.minute()).toEqual([]);
  const [first = ''] = [...discord.shown.keys()];
  discord.deleteMessage(first);
  clock.move(MINUTE);
  expect(await bench.minute()).toEqual(['edited']);
  expect(bench.shown()).toEqual([expect.stringContaining('1 of 100')]);
  expect(discord.answers.filter(({ method }) => method === 'PATCH')).toHaveLength(2);
});

test.each([
  ['deleted', ({ discord }: LiveBench) => discord.deleteWebhook()],
  [
    'needs-thread',
    ({ discord }: LiveBench) => {
      discord.channel = 'forum';
    },
  ],
  [
    'unauthorized',
    ({ deps, serverId }: LiveBench) =>
      setLiveMessage(deps, serverId, WEBHOOK_ADDRESS.replace(/z$/, 'y'), 'test').then(() => undefined),
  ],
] as const)('if the webhook is %s, it stops, and the owner gets one mail', async (reason, spoil) => {
  const bench = await liveBench();
  await bench.set();
  await spoil(bench);
  expect(await bench.run()).toBe('stopped');
  expect(await bench.live()).toMatchObject({ stopped: { reason } });
  const { requests } = bench.discord;
  bench.clock.move(HOUR);
  expect(await bench.run()).toBe('not-due');
  expect(bench.discord.requests).toBe(requests);
  const [letter, ...more] = await bench.mails();
  expect(more).toEqual([]);
  expect(letter).toMatchObject({
    to: 'olivia@example.org',
    subject: 'Alpha Craft: the live status in Discord stopped',
  });
});

test('a worker that dies between the mail and the stop causes no second mail', async () => {
  const bench = await liveBench();
  await bench.set();
  bench.discord.deleteWebhook();
  const found = await bench.live();
  // It dies when the mail is stored, before its job is added.
  vi.spyOn(bench.deps.producer, 'add').mockImplementation(async () => {
    throw new Error('killed');
  });
  await expect(updateLiveMessage(bench.deps, found?._id ?? new ObjectId(), NEVER)).rejects.toThrow('killed');
  vi.restoreAllMocks();
  await freeLease(bench);
  expect(await bench.run()).toBe('stopped');
  expect(await bench.mails()).toHaveLength(1);
});

test('after it stopped, the owner starts it again', async () => {
  const bench = await liveBench();
  const { deps, serverId, discord } = bench;
  discord.channel = 'forum';
  await bench.set();
  await bench.run();
  discord.channel = 'text';
  expect(await restartLiveMessage(deps, serverId, 'test')).not.toBeNull();
  expect(await restartLiveMessage(deps, serverId, 'test')).toBeNull();
  expect(await bench.run()).toBe('edited');
  expect(bench.shown()).toHaveLength(1);
});

test('a webhook sealed under a lost key stops it', async () => {
  const bench = await liveBench();
  await bench.set();
  await bench.deps.liveMessages.updateMany({}, { $set: { sealed: 'v1.00000000.AA.AA.AA' } });
  expect(await bench.run()).toBe('stopped');
  expect(await bench.live()).toMatchObject({ stopped: { reason: 'unreadable' } });
});

test('the message is deleted in Discord when the owner removes it, and again tried if Discord does not answer', async () => {
  const bench = await liveBench();
  const { deps, serverId, discord } = bench;
  await bench.set();
  await bench.minute();
  expect(await removeLiveMessage(deps, serverId, 'test')).toBe(true);
  expect(await removeLiveMessage(deps, serverId, 'test')).toBe(false);
  expect(await bench.live()).toBeNull();
  discord.next = [{ kind: 'fail', status: 503 }];
  expect(await bench.minute()).toEqual(['failed']);
  bench.clock.move(MINUTE);
  expect(await bench.minute()).toEqual(['deleted']);
  expect(bench.shown()).toEqual([]);
  expect(await deps.liveMessages.countDocuments()).toBe(0);
});

test('another webhook gets a message of its own, and the first message is deleted', async () => {
  const bench = await liveBench();
  await bench.set();
  await bench.minute();
  const [first] = [...bench.discord.shown.keys()];
  await bench.set();
  expect((await bench.minute()).toSorted()).toEqual(['deleted', 'edited']);
  expect([...bench.discord.shown.keys()]).toHaveLength(1);
  expect([...bench.discord.shown.keys()]).not.toContain(first);
  expect(await bench.deps.liveMessages.countDocuments()).toBe(1);
});

test('of several calls at once, one message remains', async () => {
  const bench = await liveBench();
  await Promise.all([bench.set(), bench.set(), bench.set()]);
  await bench.minute();
  expect(bench.shown()).toHaveLength(1);
  expect(await bench.deps.liveMessages.countDocuments()).toBe(1);
});

test('a removed server takes its message along; a hidden one shows no state', async () => {
  const bench = await liveBench();
  const { deps, serverId } = bench;
  await bench.players(5);
  await bench.set();
  await bench.minute();
  await deps.servers.updateOne({ _id: serverId }, { $set: { hiddenAt: new Date() } });
  bench.clock.move(MINUTE);
  await bench.minute();
  expect(bench.shown()).toEqual(['Alpha Craft\nNot listed at the moment.']);
  await removeServer(deps, serverId, 'test');
  bench.clock.move(MINUTE);
  await bench.minute();
  expect(bench.shown()).toEqual([]);
  expect(await deps.liveMessages.countDocuments()).toBe(0);
});

test('a transfer removes the message of the previous owner, not one of the new owner', async () => {
  const bench = await liveBench();
  const { deps, serverId } = bench;
  await bench.set();
  await bench.minute();
  const nextOwner = await addOwner(deps, { email: 'nora@example.org' });
  bench.clock.move(SECOND);
  await transferServer(deps, serverId, { _id: nextOwner, email: 'nora@example.org' }, 'test');
  expect(await bench.live()).toBeNull();
  bench.clock.move(SECOND);
  await bench.set();
  await transferServer(deps, serverId, { _id: nextOwner, email: 'nora@example.org' }, 'test');
  expect(await bench.live()).not.toBeNull();
});

/** A worker that is dead as soon as Discord has done what such a request asks for: it stores nothing more. */
function dyingAfter({ deps, discord }: DiscordBench, method: string): DiscordBench['deps'] {
  let isDead = false;
  discord.onDone = async (done) => {
    isDead ||= done === method;
  };
  const liveMessages = new Proxy(deps.liveMessages, {
    get(collection, name) {
      const value = Reflect.get(collection, name);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]) =>
        isDead ? Promise.reject(new Error('killed')) : value.apply(collection, args);
    },
  });
  return { ...deps, liveMessages };
}

async function die(bench: LiveBench, method: string) {
  const [found] = await bench.deps.liveMessages.find().toArray();
  if (!found) throw new Error('none');
  const run = updateLiveMessage(dyingAfter(bench, method), found._id, NEVER);
  await expect(run).rejects.toThrow('killed');
  bench.discord.onDone = undefined;
}

/** Once, after Discord has done what such a request asks for, before it answers. */
function meanwhile({ discord }: DiscordBench, method: string, work: () => Promise<unknown>) {
  discord.onDone = async (done) => {
    if (done !== method) return;
    discord.onDone = undefined;
    await work();
  };
}

test('a worker that dies after a post leaves at most one other message, which says nothing about the state', async () => {
  const bench = await liveBench();
  await bench.players(5);
  await bench.set();
  await die(bench, 'POST');
  expect(await bench.run()).toBe('not-due');
  await freeLease(bench);
  expect(await bench.run()).toBe('edited');
  expect(bench.shown()).toEqual([
    'Alpha Craft\nStatus, players and votes of this server: https://example.org/listing/servers/alpha-craft',
    expect.stringContaining('5 of 100'),
  ]);
});

test('a worker that dies after an edit edits again, with no second message', async () => {
  const bench = await liveBench();
  await bench.players(5);
  await bench.set();
  await die(bench, 'PATCH');
  await freeLease(bench);
  expect(await bench.run()).toBe('edited');
  expect(bench.shown()).toEqual([expect.stringContaining('5 of 100')]);
});

test('a worker that dies after the deletion leaves nothing', async () => {
  const bench = await liveBench();
  await bench.set();
  await bench.minute();
  await removeLiveMessage(bench.deps, bench.serverId, 'test');
  await die(bench, 'DELETE');
  await freeLease(bench);
  expect(await bench.minute()).toEqual(['deleted']);
  expect(await bench.deps.liveMessages.countDocuments()).toBe(0);
});

test('a suspended worker that wakes after another one has posted deletes its own message', async () => {
  const bench = await liveBench({ LISTENER_TIMEOUT_MS: '8000', LEASE_MS: '40000' });
  const found = await bench.set();
  meanwhile(bench, 'POST', async () => {
    await freeLease(bench);
    expect(await bench.run()).toBe('edited');
  });
  expect(await updateLiveMessage(bench.deps, found._id, NEVER)).toEqual({ end: 'overtaken' });
  expect(bench.shown()).toHaveLength(2);
  expect(await bench.minute()).toEqual(['deleted']);
  expect(bench.shown()).toEqual([expect.stringContaining('unknown')]);
});

test('the owner removes it while a worker posts: nothing remains', async () => {
  const bench = await liveBench();
  const found = await bench.set();
  meanwhile(bench, 'POST', () => removeLiveMessage(bench.deps, bench.serverId, 'test'));
  await updateLiveMessage(bench.deps, found._id, NEVER);
  await bench.minute();
  expect(bench.shown()).toEqual([]);
  expect(await bench.deps.liveMessages.countDocuments()).toBe(0);
});

test('while Discord answers no post, at most five are sent; then it stops and says so', async () => {
  const bench = await liveBench({ LISTENER_TIMEOUT_MS: '300' });
  const { discord } = bench;
  await bench.set();
  for (let hours = 0; hours < 48 && !(await bench.live())?.stopped; hours += 1) {
    // The webhook can be read; a post gets no answer.
    discord.next = [{ kind: 'cut' }];
    await bench.run();
    bench.clock.move(6 * HOUR);
  }
  const posts = discord.answers.filter(({ method }) => method === 'POST').length;
  expect(posts).toBe(5);
  expect(await bench.live()).toMatchObject({ stopped: { reason: 'unconfirmed' } });
  const [letter] = await bench.mails();
  expect(letter?.text).toContain('Delete the messages that it did post');
});

test('while Discord fails edits become rarer; then the newest content is shown', async () => {
  const bench = await liveBench();
  await bench.players(1);
  await bench.set();
  await bench.minute();
  bench.clock.move(MINUTE);
  bench.discord.behaviour = { kind: 'fail', status: 502 };
  const { requests } = bench.discord;
  for (let minute = 0; minute < 60; minute += 1) {
    await bench.players(minute);
    await bench.minute();
    bench.clock.move(MINUTE);
  }
  expect(bench.discord.requests - requests).toBeLessThanOrEqual(5);
  expect(await bench.live()).toMatchObject({ lastReason: expect.stringContaining('HTTP 502') });
  bench.discord.behaviour = { kind: 'accept' };
  bench.clock.move(2 * HOUR);
  await bench.players(42);
  expect(await bench.minute()).toEqual(['edited']);
  expect(bench.shown()).toEqual([expect.stringContaining('42 of 100')]);
  expect(await bench.live()).not.toHaveProperty('lastReason');
});

test('a limit of Discord delays the edit for as long as it says', async () => {
  const bench = await liveBench();
  await bench.players(1);
  await bench.set();
  await bench.minute();
  bench.clock.move(MINUTE);
  await bench.players(2);
  bench.discord.next = [{ kind: 'limit', retryAfter: 600, code: 30_046 }];
  expect(await bench.minute()).toEqual(['limited']);
  bench.clock.move(9 * MINUTE);
  expect(await bench.minute()).toEqual([]);
  bench.clock.move(MINUTE);
  expect(await bench.minute()).toEqual(['edited']);
});

test('the pass of a minute reads the servers and goals of 500 messages at once', async () => {
  const bench = await liveBench();
  const { deps } = bench;
  const model = await bench.set();
  await bench.minute();
  const live = (await bench.live()) ?? model;
  await deps.liveMessages.insertMany(
    Array.from({ length: 900 }, () => ({ ...live, _id: new ObjectId(), serverId: new ObjectId() })),
  );
  bench.clock.move(MINUTE);
  const reads = [vi.spyOn(deps.servers, 'find'), vi.spyOn(deps.voteGoals, 'find')];
  expect(await dueLiveMessages(deps)).toHaveLength(900);
  expect(reads.map((read) => read.mock.calls.length)).toEqual([2, 2]);
});
