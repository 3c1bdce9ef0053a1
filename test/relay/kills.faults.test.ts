import { randomUUID } from 'node:crypto';
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { HAS_JAVA, journalLine, relayBench } from './relay-process.ts';

describe.skipIf(!HAS_JAVA)('a relay that is killed', () => {
  test('before its request is answered hands the vote over once', async () => {
    const bench = await relayBench();
    const vote = bench.api.cast('Alice');
    const relay = bench.start();
    bench.api.intercept = async () => {
      await relay.kill();
      return true;
    };
    await expect.poll(() => relay.child.signalCode).toBe('SIGKILL');
    bench.api.intercept = undefined;
    bench.start();
    await expect.poll(() => vote.timeline).toEqual(['taken 1', 'delivered']);
    expect(bench.received()).toEqual(['Alice']);
  });

  test('after it took votes, and before anything was written, takes the same ones again without a new sending', async () => {
    const bench = await relayBench();
    const vote = bench.api.cast('Alice');
    // The relay looks for the plugin's greeting before it takes votes: only the connection after that gets none.
    const relay = bench.start();
    bench.api.intercept = async (call) => {
      if (call.path === 'take') bench.listener.behaviour = { onConnect: 'silence' };
      return false;
    };
    await expect.poll(() => bench.listener.connections).toBe(2);
    await relay.kill();
    expect(bench.readJournal()).not.toContain('begin');
    bench.listener.behaviour = {};
    bench.api.intercept = undefined;
    bench.start();
    await expect.poll(() => vote.timeline).toEqual(['taken 1', 'delivered']);
    expect(bench.received()).toEqual(['Alice']);
  });

  test('after it took votes, for longer than their leases, hands them over as the next sending', async () => {
    const bench = await relayBench();
    const vote = bench.api.cast('Alice');
    const relay = bench.start();
    bench.api.intercept = async (call) => {
      if (call.path === 'done') return false;
      await call.answer();
      await relay.kill();
      return true;
    };
    await expect.poll(() => relay.child.signalCode).toBe('SIGKILL');
    bench.api.endLeases();
    bench.api.intercept = undefined;
    bench.start();
    await expect.poll(() => vote.timeline).toEqual(['taken 1', 'lease ended', 'taken 2', 'delivered']);
    expect(bench.received()).toEqual(['Alice']);
  });

  test('between its journal and the hand-over says unknown, and hands over only the next sending', async () => {
    const bench = await relayBench();
    const vote = bench.api.cast('Alice');
    const relay = bench.start();
    bench.api.intercept = async (call) => {
      if (call.path === 'done') return false;
      await call.answer();
      await relay.kill();
      return true;
    };
    await expect.poll(() => relay.child.signalCode).toBe('SIGKILL');
    // The next thing that the relay would have done before it wrote to the plugin.
    appendFileSync(bench.journal, journalLine(`begin ${vote.id} 1 ${vote.lease}`));
    bench.api.intercept = undefined;
    bench.api.retryMs = 3_600_000;
    const again = bench.start();
    await expect.poll(() => vote.timeline).toEqual(['taken 1', 'unknown']);
    await again.says(`vote ${vote.id}: unknown (the relay was ended while it handed the vote over)`);
    expect(bench.received()).toEqual([]);
    bench.api.resend(vote);
    await expect.poll(() => vote.timeline).toEqual(['taken 1', 'unknown', 'resend', 'taken 2', 'delivered']);
    expect(bench.received()).toEqual(['Alice']);
  });

  test('between the hand-over and its journal says unknown: the game gets it twice only where the timeline says so', async () => {
    const bench = await relayBench();
    bench.listener.stall();
    const vote = bench.api.cast('Alice');
    const relay = bench.start();
    await expect.poll(() => bench.received()).toEqual(['Alice']);
    await relay.kill();
    expect(bench.readJournal()).toMatch(/ begin .*\n$/);
    bench.listener.release();
    bench.api.retryMs = 3_600_000;
    bench.start();
    await expect.poll(() => vote.timeline).toEqual(['taken 1', 'unknown']);
    expect(vote.reason).toBe('the relay was ended while it handed the vote over');
    expect(bench.received()).toEqual(['Alice']);
  });

  for (const [when, leasesEnd, timeline] of [
    ['within the lease', false, ['taken 1', 'delivered']],
    ['after the lease', true, ['taken 1', 'lease ended', 'delivered late']],
  ] as const) {
    test(`before it told the outcome tells it at its next start, ${when}, and hands nothing over`, async () => {
      const bench = await relayBench();
      const vote = bench.api.cast('Alice');
      const relay = bench.start();
      bench.api.intercept = async (call) => {
        if (call.path === 'take') return false;
        await relay.kill();
        return true;
      };
      await expect.poll(() => relay.child.signalCode).toBe('SIGKILL');
      bench.api.intercept = undefined;
      bench.api.retryMs = 3_600_000;
      if (leasesEnd) bench.api.endLeases();
      bench.start();
      await expect.poll(() => vote.timeline).toEqual(timeline);
      expect(vote.state).toBe('delivered');
      expect(bench.received()).toEqual(['Alice']);
    });
  }

  test('tells at its next start what was open, even if the clock has jumped by months', async () => {
    const bench = await relayBench();
    const past = Date.now() - 90 * 24 * 3_600_000;
    const [open, told] = [randomUUID(), randomUUID()];
    writeFileSync(
      bench.journal,
      [
        journalLine(`done ${told} 1 delivered`, past),
        journalLine(`begin ${open} 1 lease`, past),
        journalLine(`end ${open} 1 delivered`, past),
      ].join(''),
    );
    bench.start();
    await expect
      .poll(() => bench.api.calls[0])
      .toMatchObject({
        path: 'done',
        body: { results: [{ vote_id: open, lease: 'lease', outcome: 'delivered' }] },
      });
    expect(bench.readJournal()).not.toContain(told);
  });

  test('before it noted that the outcome was told tells it once more', async () => {
    const bench = await relayBench();
    const vote = bench.api.cast('Alice');
    const relay = bench.start();
    bench.api.intercept = async (call) => {
      if (call.path === 'take') return false;
      await call.answer();
      await relay.kill();
      return true;
    };
    await expect.poll(() => relay.child.signalCode).toBe('SIGKILL');
    bench.api.intercept = undefined;
    bench.start();
    const told = () => bench.api.calls.filter(({ path }) => path === 'done').length;
    await expect.poll(told).toBe(2);
    await expect.poll(() => bench.readJournal()).toMatch(/ settled .*\n/);
    expect(vote.timeline).toEqual(['taken 1', 'delivered']);
    expect(bench.received()).toEqual(['Alice']);
  });

  test('answers a sending that comes again with its stored outcome', async () => {
    const bench = await relayBench();
    const vote = bench.api.cast('Alice');
    const relay = bench.start();
    await expect.poll(() => bench.readJournal()).toMatch(/ settled .*\n/);
    await relay.stop();
    // As when the listing was restored from a backup of before the vote was taken.
    vote.sending = 1;
    bench.api.resend(vote);
    bench.start();
    await expect
      .poll(() => vote.timeline)
      .toEqual(['taken 1', 'delivered', 'resend', 'taken 1', 'delivered']);
    expect(bench.received()).toEqual(['Alice']);
  });

  test('reads a journal whose last line was torn, and lines that are none', async () => {
    const bench = await relayBench();
    const vote = bench.api.cast('Alice');
    const relay = bench.start();
    bench.api.intercept = async (call) => {
      if (call.path === 'take') return false;
      await relay.kill();
      return true;
    };
    await expect.poll(() => relay.child.signalCode).toBe('SIGKILL');
    bench.api.intercept = undefined;
    // The outcome is torn: of the vote is known only that it was begun.
    const whole = readFileSync(bench.journal);
    writeFileSync(bench.journal, Buffer.concat([Buffer.from('\0\0\0nothing\n\n'), whole.subarray(0, -9)]));
    const again = bench.start();
    await expect.poll(() => vote.timeline.slice(0, 2)).toEqual(['taken 1', 'unknown']);
    await expect.poll(() => vote.state).toBe('delivered');
    await again.stop();
    expect(bench.readJournal()).toMatch(
      new RegExp(` begin ${vote.id} 2 [^\n]*\n.* end ${vote.id} 2 delivered`),
    );
  });

  test('again and again loses no vote, and repeats none but where the timeline says so', async () => {
    const bench = await relayBench();
    bench.api.sendings = 100;
    bench.listener.behaviour = { answerDelayMs: 15 };
    const votes = Array.from({ length: 300 }, (_, index) => bench.api.cast(`Player${index}`));
    const open = () => votes.filter(({ state }) => state === 'waiting' || state === 'taken').length;
    for (let kills = 0; kills < 12 && open() > 0; kills += 1) {
      const before = open();
      const relay = bench.start();
      // Killed at another place of its work each time.
      await expect.poll(() => open() === 0 || open() < before - kills, { interval: 1 }).toBe(true);
      await relay.kill();
      if (kills % 4 === 3) bench.api.endLeases();
    }
    bench.start();
    await expect.poll(open).toBe(0);
    for (const { username, timeline, state } of votes) {
      const received = bench.received().filter((name) => name === username).length;
      const mayBeTwice = timeline.filter((event) => event === 'unknown' || event === 'lease ended').length;
      expect(state).toBe('delivered');
      expect(received, timeline.join(', ')).toBeGreaterThanOrEqual(1);
      expect(received, timeline.join(', ')).toBeLessThanOrEqual(1 + mayBeTwice);
    }
    expect(bench.api.refusedBodies).toBe(0);
  });
});
