import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { HAS_JAVA, relayBench } from './relay-process.ts';

const PATIENT = { timeout: 80_000 };

/** A listing that drips is asked again, with the same request. */
async function listingThatDrips(): Promise<void> {
  const bench = await relayBench();
  const vote = bench.api.cast('Alice');
  let dripped = false;
  bench.api.intercept = async (call) => {
    if (dripped) return false;
    dripped = true;
    const { body } = await call.answer();
    call.response.writeHead(200, { 'content-type': 'application/json' });
    for (const letter of JSON.stringify(body)) {
      if (call.response.destroyed) break;
      call.response.write(letter);
      await wait(1_000);
    }
    return true;
  };
  bench.start();
  await expect.poll(() => vote.state, PATIENT).toBe('delivered');
  // The request ends after 40 s, so that the vote comes again within its lease of 60 s. It is handed over once.
  expect(vote.timeline[0]).toBe('taken 1');
  expect(vote.timeline).not.toContain('taken 2');
  expect(vote.timeline.filter((event) => event === 'delivered')).toHaveLength(1);
  const takes = bench.api.calls.filter(({ path }) => path === 'take');
  expect(new Set(takes.slice(0, 2).map(({ body }) => (body as { request_id: string }).request_id)).size).toBe(
    1,
  );
}

/** While the greeting of the vote plugin drips, no vote is taken. */
async function greetingThatDrips(): Promise<void> {
  const bench = await relayBench();
  const vote = bench.api.cast('Alice');
  bench.listener.behaviour = { dripMs: 1_000 };
  const relay = bench.start();
  await relay.says(/Votifier at 127.0.0.1:\d+ sent no greeting in time; it said: VOTI/, PATIENT);
  expect(vote.timeline).toEqual([]);
  bench.listener.behaviour = {};
  await expect.poll(() => vote.state, PATIENT).toBe('delivered');
  expect(vote.timeline).not.toContain('taken 2');
}

/** A vote plugin that takes a vote and says nothing may have it. The votes behind it are given back while they are leased. */
async function silentPlugin(): Promise<void> {
  const bench = await relayBench();
  const { api } = bench;
  bench.start();
  const first = api.cast('First');
  await expect.poll(() => first.state, PATIENT).toBe('delivered');
  api.retryMs = 3_600_000;
  bench.listener.behaviour = { onFrame: 'silence' };
  // All are due at once, so that one take brings them.
  api.paused = true;
  const votes = ['Alice', 'Bob', 'Carol'].map((name) => api.cast(name));
  api.paused = false;
  api.cast('Dave');
  const timelines = () => votes.map(({ timeline }) => timeline);
  await expect.poll(timelines, PATIENT).toEqual([
    ['taken 1', 'unknown'],
    ['taken 1', 'retry'],
    ['taken 1', 'retry'],
  ]);
  expect(votes[0]?.reason).toBe('Votifier did not answer in time');
  expect(votes[2]?.reason).toBe('too little time was left to hand it over');
}

/** A gateway that answers late is no proxy that cuts: the next request waits as long, and not before it may. */
async function gatewayThatIsLate(): Promise<void> {
  const bench = await relayBench();
  let answeredAt = 0;
  let pause = 0;
  bench.api.intercept = async (call) => {
    if (answeredAt > 0) {
      pause ||= Date.now() - answeredAt;
      return false;
    }
    await wait(11_000);
    answeredAt = Date.now();
    call.response.writeHead(503, { 'retry-after': '3' }).end();
    return true;
  };
  const relay = bench.start();
  const waits = () => bench.api.calls.map(({ body }) => (body as Record<string, unknown>).wait_seconds);
  await expect.poll(waits, PATIENT).toEqual([25, 25]);
  expect(pause).toBeGreaterThan(2_900);
  await relay.says('a proxy in front of it answered with HTTP 503');
}

/** A proxy that cuts requests which wait does no harm. */
async function proxyThatCuts(): Promise<void> {
  const bench = await relayBench();
  let cuts = 0;
  bench.api.intercept = async (call) => {
    if (call.path === 'done' || cuts > 0) return false;
    cuts += 1;
    await wait(11_000);
    call.response.destroy();
    return true;
  };
  const relay = bench.start();
  const waits = () =>
    bench.api.calls.filter(({ path }) => path === 'take').map(({ body }) => body as Record<string, unknown>);
  await expect.poll(() => waits().length, PATIENT).toBe(2);
  const [first, second] = waits();
  expect(second?.request_id).toBe(first?.request_id);
  expect([first?.wait_seconds, second?.wait_seconds]).toEqual([25, 6]);
  const vote = bench.api.cast('Alice');
  await expect.poll(() => vote.state, PATIENT).toBe('delivered');
  expect(relay.lines.join('\n')).not.toContain('!');
}

// All at once: they only wait.
test.skipIf(!HAS_JAVA)(
  'the relay waits for no peer for ever: a listing, a proxy, a vote plugin',
  async () => {
    await Promise.all([
      listingThatDrips(),
      greetingThatDrips(),
      silentPlugin(),
      proxyThatCuts(),
      gatewayThatIsLate(),
    ]);
  },
);
