import { expect, test } from 'vitest';
import { sendToDiscord } from '../../src/events/discord/discord-destination.ts';
import { filledTemplate, PLACEHOLDERS, templateSchema } from '../../src/events/discord/vote-template.ts';
import { eventIdOf } from '../../src/events/event.ts';
import { EVENT_TYPES, type EventType } from '../../src/events/kinds.ts';
import type { ResolvedEvent } from '../../src/events/resolve-events.ts';
import type { Subscription } from '../../src/events/subscription.ts';
import { addSubscription } from '../../src/events/subscriptions.ts';
import { setGoal } from '../../src/goals/change-goal.ts';
import { MINUTE, SECOND } from '../../src/platform/clock.ts';
import { WEBHOOK_ADDRESS } from '../support/fake-discord.ts';
import { asShown, discordBench, NEVER } from './discord-bench.ts';

async function destinationBench(template?: string) {
  const bench = await discordBench();
  const { deps, serverId, clock, discord } = bench;
  const settings = {
    type: 'discord',
    name: 'Ours',
    kinds: ['vote.counted'],
    webhook: WEBHOOK_ADDRESS,
  } as const;
  const { subscription } = await addSubscription(
    deps,
    serverId,
    { ...settings, kinds: [...settings.kinds], ...(template ? { template } : {}) },
    'test',
  );
  let made = 0;
  return {
    ...bench,
    event(type: EventType, data: Record<string, unknown> = {}): ResolvedEvent {
      made += 1;
      const about = { server_id: serverId.toHexString(), server_name: 'Alpha *Craft*', server_url: PAGE };
      const at = new Date(clock.now().getTime() + made);
      return { _id: eventIdOf(type, String(made)), serverId, type, at, data: { ...about, ...data } };
    },
    send: (events: ResolvedEvent[], to: Subscription = subscription, signal = NEVER) =>
      sendToDiscord(deps, to, events, { signal, mayStart: () => true }),
    subscription,
    /** The embeds of each message, as title and text. */
    shown: () =>
      discord.messages.map(({ embeds = [] }) =>
        embeds.map(({ title, description }) => [title, description].filter(Boolean).map(asShown).join(' | ')),
      ),
  };
}

const PAGE = 'https://example.org/listing/servers/alpha-craft';

const vote = (username: string | null, monthly = 7) => ({ username, monthly_votes: monthly });

test('the votes of some seconds are one message, in the owner’s words', async () => {
  const bench = await destinationBench('{votes}: {players} → {player} @everyone {month} <{url}>');
  const events = ['Steve', 'Alex', 'Steve', null].map((name, n) =>
    bench.event('vote.counted', vote(name, 1_000 + n)),
  );
  const { outcomes } = await bench.send(events);
  expect(bench.shown()).toEqual([[`4: Steve, Alex and 1 other → a player @everyone 1,003 <${PAGE}>`]]);
  expect(bench.discord.messages[0]?.allowed_mentions).toEqual({ parse: [] });
  expect(outcomes.map(({ eventId, end, status }) => [eventId, end, status])).toEqual(
    events.map(({ _id }) => [_id, 'sent', 200]),
  );
});

test('without a template there is a usual one; its line about the goal needs a goal', async () => {
  const bench = await destinationBench();
  await bench.send([bench.event('vote.counted', vote('Steve'))]);
  const usual = `**Steve** voted for [Alpha *Craft*](${PAGE}). Votes this month: 7`;
  expect(bench.shown()).toEqual([[usual]]);
  await setGoal(bench.deps, bench.serverId, { target: '100', period: 'week' }, 'test');
  await bench.send([bench.event('vote.counted', vote('Steve'))]);
  expect(bench.shown()[1]).toEqual([`${usual}\nVote goal: 0 of 100 votes`]);
});

test.each([
  '@everyone <@1099999999999991234> <@&2> <#3>',
  '**bold** __line__ ~~gone~~ `code` ||spoiler||',
  '[click](https://evil.example) https://evil.example',
  '{url} {goal}',
])('a name can neither format nor link nor mention nor be a placeholder: %s', async (name) => {
  const bench = await destinationBench('**{players}**');
  await bench.send([bench.event('vote.counted', vote(name))]);
  const [{ embeds: [embed] = [] } = {}] = bench.discord.messages;
  expect(asShown(embed?.description)).toBe(`**${name}**`);
  const written = (embed?.description ?? '').slice(2, -2).replace(/\\[^0-9A-Za-z\s]/g, '');
  expect(written).not.toMatch(/[!-/:-@[-`{-~]/);
});

test('10,000 votes of long names are one message within the limits', async () => {
  const bench = await destinationBench(`${'{players}'.repeat(50)} {server}`);
  const events = Array.from({ length: 10_000 }, (_, n) =>
    bench.event('vote.counted', vote('*'.repeat(60) + n)),
  );
  const { outcomes } = await bench.send(events);
  expect(outcomes.filter(({ end }) => end === 'sent')).toHaveLength(10_000);
  expect(bench.discord.messages).toHaveLength(1);
});

test('other events are an embed each, up to ten in a message; an exclusion of many votes is one', async () => {
  const bench = await destinationBench();
  const events = [
    ...Array.from({ length: 12 }, (_, n) => bench.event('milestone', { votes: (n + 1) * 1_000 })),
    ...Array.from({ length: 300 }, () => bench.event('vote.excluded', { username: 'Steve' })),
    bench.event('vote.counted', vote('Alex')),
  ];
  const { outcomes } = await bench.send(events);
  expect(outcomes).toHaveLength(313);
  expect(bench.shown().map((embeds) => embeds.length)).toEqual([10, 4]);
  expect(bench.shown()[0]?.[1]).toContain('Alpha *Craft*: 300 votes no longer count');
  expect(bench.shown()[0]?.[2]).toContain('Alpha *Craft*: 1,000 votes');
});

test('a template whose only line is about a goal is the usual one without a goal', async () => {
  const bench = await destinationBench('{player} voted, goal: {goal}');
  await bench.send([bench.event('vote.counted', vote('Steve'))]);
  expect(bench.shown()[0]?.[0]).toContain('**Steve** voted for [Alpha *Craft*]');
});

test('the texts of a message have at most 6,000 characters', async () => {
  const bench = await destinationBench();
  const text = { subject: 'a new review', paragraphs: ['x'.repeat(2_500)], part: '/reviews' };
  const events = Array.from({ length: 5 }, () => ({ ...bench.event('review.published'), text }));
  expect((await bench.send(events)).outcomes.map(({ end }) => end)).toEqual(Array(5).fill('sent'));
  expect(bench.shown().map((embeds) => embeds.length)).toEqual([2, 2, 1]);
  expect(bench.shown()[0]?.[0]).toContain(`/dashboard/servers/${bench.serverId.toHexString()}/reviews`);
});

const DATA: Partial<Record<EventType, Record<string, unknown>>> = {
  'goal.reached': {
    round: '3',
    target: 500,
    period: 'rolling',
    votes: 1_500,
    goal_text: 'Double experience',
  },
  'server.offline': { since: '2026-11-29T08:00:00.000Z' },
  'server.online': { since: '2026-11-29T08:00:00.000Z', offline_seconds: 7_300 },
  'listener.down': { test: true },
  'review.published': { username: null, rating: 4 },
  'rank.changed': { rank: 12, previous_rank: 1_015, day: '2026-11-29' },
  milestone: { votes: 10_000 },
};

test('every kind has a sentence for people, with its numbers and no gap', async () => {
  const bench = await destinationBench();
  await bench.send(EVENT_TYPES.map((type) => bench.event(type, { ...vote('Steve'), ...DATA[type] })));
  const all = bench.shown().flat();
  expect(all.join('\n')).not.toMatch(/undefined|NaN|null|Invalid/);
  for (const piece of [
    'round 3 | 500 votes.\n\nDouble experience',
    'since 29 November at 08:00 UTC',
    'for 2 hours',
    'Test: Alpha *Craft*: Vote listener down | It is paused because of an error',
    'a new review, 4 of 5 stars | By a player.',
    'rank 12 | The day before it was 1,015',
    '10,000 votes',
    'An operator takes votes out of the counts',
  ])
    expect(all.join('\n')).toContain(piece);
});

test('a limit of Discord waits without further requests; events that were not tried stay due', async () => {
  const bench = await destinationBench();
  const events = Array.from({ length: 30 }, (_, n) => bench.event('milestone', { votes: n + 1 }));
  bench.discord.next = [{ kind: 'accept' }, { kind: 'limit', retryAfter: 12.5 }];
  const { outcomes, waitMs, isGone } = await bench.send(events);
  expect(outcomes.map(({ end }) => end)).toEqual([...Array(10).fill('sent'), ...Array(10).fill('waits')]);
  expect({ waitMs, isGone }).toEqual({ waitMs: 12_500, isGone: undefined });
  const again = await bench.send(events.slice(10));
  expect(again).toMatchObject({ waitMs: 12_500 });
  expect(new Set(again.outcomes.map(({ end }) => end))).toEqual(new Set(['waits']));
  expect(bench.discord.requests).toBe(2);
  bench.clock.move(12_500);
  const last = await bench.send(events.slice(10));
  expect(last.outcomes.map(({ end }) => end)).toEqual(Array(20).fill('sent'));
});

test('a backlog leaves as fast as Discord allows, and Discord never has to refuse', async () => {
  const bench = await destinationBench();
  let open = Array.from({ length: 700 }, (_, n) => bench.event('milestone', { votes: n + 1 }));
  const began = bench.clock.now().getTime();
  while (open.length > 0) {
    const { outcomes, waitMs = 0 } = await bench.send(open);
    const sent = new Set(outcomes.flatMap(({ eventId, end }) => (end === 'sent' ? [eventId] : [])));
    open = open.filter(({ _id }) => !sent.has(_id));
    bench.clock.move(waitMs);
  }
  expect(bench.discord.messages).toHaveLength(70);
  expect(bench.clock.now().getTime() - began).toBeLessThan(3 * MINUTE);
  expect(bench.complaints()).toEqual([]);
});

test.each([
  ['deleted', 10_015, 404],
  ['unauthorized', 50_027, 401],
  ['thread-gone', 10_003, 404],
  ['needs-thread', 220_001, 400],
] as const)('a webhook that is %s is gone', async (isGone, code, status) => {
  const bench = await destinationBench();
  bench.discord.next = [{ kind: 'refuse', status, code }];
  const result = await bench.send([bench.event('milestone', { votes: 1 })]);
  expect(result).toMatchObject({ isGone, outcomes: [{ end: 'refused', reason: isGone }] });
});

test.each([
  [{ kind: 'fail', status: 503 }, 503],
  [{ kind: 'fail', status: 403 }, 403],
  [{ kind: 'cut' }, undefined],
] as const)('after %j the events are tried again, and no further message is', async (behaviour, status) => {
  const bench = await destinationBench();
  bench.discord.next = [behaviour];
  const events = Array.from({ length: 11 }, (_, n) => bench.event('milestone', { votes: n + 1 }));
  const { outcomes } = await bench.send(events);
  expect(outcomes.map(({ end, status: seen }) => [end, seen])).toEqual(
    Array.from({ length: 10 }, () => ['retry', status]),
  );
  expect(bench.discord.requests).toBe(1);
});

test('if Discord refuses a message, only the events that it refuses alone are lost', async () => {
  const bench = await destinationBench();
  const events = Array.from({ length: 3 }, (_, n) => bench.event('milestone', { votes: n + 1 }));
  const refuse = { kind: 'refuse', status: 400, code: 50_035 } as const;
  bench.discord.next = [refuse, { kind: 'accept' }, refuse, { kind: 'accept' }];
  const { outcomes } = await bench.send(events);
  expect(outcomes.map(({ end, reason }) => [end, reason])).toEqual([
    ['sent', undefined],
    ['refused', 'HTTP 400, 50035'],
    ['sent', undefined],
  ]);
});

test('an aborted pass sends nothing more', async () => {
  const bench = await destinationBench();
  const events = [bench.event('milestone', { votes: 1 })];
  const result = await bench.send(events, bench.subscription, AbortSignal.abort());
  expect(result).toEqual({ outcomes: [] });
  expect(bench.discord.requests).toBe(0);
});

test('a template with an unknown placeholder is refused by name', async () => {
  expect(templateSchema.safeParse('{player} {players} {goal} {} { x } {1}').success).toBe(true);
  const { error } = templateSchema.safeParse('Hello {name}');
  const known = PLACEHOLDERS.map((one) => `{${one}}`).join(', ');
  expect(error?.issues[0]?.message).toBe(`has no placeholder {name}. There are: ${known}`);
  expect(templateSchema.safeParse('x'.repeat(501)).success).toBe(false);
  await expect(destinationBench('{Player}')).rejects.toThrow('has no placeholder {Player}');
});

test('a filled text is never cut between a backslash and its character', () => {
  const shown = { names: ['*'.repeat(70)], monthlyVotes: 1, server: '*', url: PAGE, goal: null };
  for (let more = 0; more < 4; more += 1) {
    const filled = filledTemplate('x'.repeat(more) + '{player}'.repeat(60), shown);
    expect(filled.length).toBeLessThanOrEqual(4_096);
    expect(filled).toMatch(/^x*(?:\\\*|…)+…$/);
  }
});

test('a webhook that another subscription uses too shares its limit', async () => {
  const bench = await destinationBench();
  const { subscription: other } = await addSubscription(
    bench.deps,
    bench.serverId,
    { type: 'discord', name: 'Too', kinds: ['milestone'], webhook: WEBHOOK_ADDRESS },
    'test',
  );
  for (let n = 0; n < 5; n += 1) await bench.send([bench.event('milestone', { votes: n + 1 })]);
  const result = await bench.send([bench.event('milestone', { votes: 9 })], other);
  expect(result).toMatchObject({ waitMs: 2 * SECOND, outcomes: [{ end: 'waits' }] });
});
