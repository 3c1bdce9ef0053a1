import { expect, it } from 'vitest';
import { statusAt } from '../../src/history/current-status.ts';
import { after, DAY, HOUR, MINUTE, SECOND } from '../../src/platform/clock.ts';
import { type Check, planOfTake, type SampleOfCheck, stateAfter } from '../../src/probing/probe-state.ts';
import { newProbeState } from '../../src/servers/listed-servers.ts';
import type { ProbeState } from '../../src/servers/server.ts';

const START = new Date('2026-11-21T08:00:00.000Z');

/** A server with a simulated clock: `answers` returns the result of a check at a given time. */
function listed(answers: (now: Date) => Check['end']) {
  let now = START;
  let state: ProbeState = newProbeState(START);
  const samples: (SampleOfCheck & { at: Date })[] = [];

  function check(byHand: boolean): void {
    const end = answers(now);
    const ended: Check = end === 'answered' ? { end, byHand, latencyMs: 12 } : { end, byHand };
    const { state: next, sample } = stateAfter(state, ended, now);
    state = next;
    if (sample) samples.push({ ...sample, at: now });
  }

  return {
    samples,
    state: () => state,
    status: () => statusAt({ probe: state, lastReport: null }, now),
    now: () => now,
    /** The scheduler runs until `ms` from now. */
    run(ms: number) {
      const end = after(now, ms);
      while (state.nextAt <= end) {
        if (state.nextAt > now) now = state.nextAt;
        state = { ...state, ...planOfTake(state, now) };
        check(false);
      }
      now = end;
    },
    /** No probes for `ms`. */
    rest(ms: number) {
      now = after(now, ms);
    },
    checkByHand: () => check(true),
    secondsOf: (status: string) =>
      samples.filter((sample) => sample.status === status).reduce((sum, { seconds }) => sum + seconds, 0),
  };
}

const always = (end: Check['end']) => () => end;

it('is unknown until the first answer, and online with it', () => {
  const server = listed(always('answered'));
  expect(server.status()).toBe('unknown');
  server.run(0);
  expect(server.status()).toBe('online');
});

it('probes a server every five minutes, ten per cent more or less', () => {
  const server = listed(always('answered'));
  server.run(DAY);
  const gaps = server.samples
    .slice(2)
    .map(({ at }, i) => at.getTime() - (server.samples[i + 1]?.at.getTime() ?? 0));
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(270 * SECOND);
  expect(Math.max(...gaps)).toBeLessThanOrEqual(330 * SECOND);
  expect(new Set(gaps).size).toBeGreaterThan(10);
});

it('counts every second of a day without a failure as online, none twice', () => {
  const server = listed(always('answered'));
  server.run(DAY);
  const planned = (server.state().scheduledAt.getTime() - START.getTime()) / SECOND;
  expect(server.secondsOf('online')).toBe(planned);
});

it('is offline after three failures in a row, one of them 30 s after the first, and not before', () => {
  let down = false;
  const server = listed(() => (down ? 'failed' : 'answered'));
  server.run(10 * MINUTE);
  down = true;
  const failed = () => server.samples.filter(({ status }) => status !== 'online');
  while (failed().length === 0) server.run(SECOND);
  expect(server.status()).toBe('online');
  server.run(31 * SECOND);
  expect(failed()).toMatchObject([{ status: 'unknown', reason: 'unconfirmed' }, { seconds: 0 }]);
  expect(server.status()).toBe('online');
  server.run(330 * SECOND);
  expect(server.status()).toBe('offline');
  expect(failed().at(-1)).toMatchObject({ status: 'offline', seconds: expect.toSatisfy((n) => n >= 270) });
});

it('never makes a flapping server offline that answers every quick retry', () => {
  let checks = 0;
  const server = listed(() => (checks++ % 2 === 0 ? 'answered' : 'failed'));
  for (let minute = 0; minute < 600; minute += 1) {
    server.run(MINUTE);
    expect(server.status()).toBe('online');
  }
  expect(server.secondsOf('offline')).toBe(0);
  expect(server.secondsOf('unknown')).toBeGreaterThan(0);
});

it('is online after one answer, however long it was offline', () => {
  let down = true;
  const server = listed(() => (down ? 'failed' : 'answered'));
  server.run(20 * HOUR);
  expect(server.status()).toBe('offline');
  down = false;
  server.checkByHand();
  expect(server.status()).toBe('online');
  const before = server.samples.length;
  server.run(331 * SECOND);
  expect(server.samples.length).toBe(before + 1);
  expect(server.samples.at(-1)?.seconds).toBeLessThanOrEqual(330);
});

it('probes a server that is long offline less often, down to hourly', () => {
  const server = listed(always('failed'));
  server.run(55 * MINUTE);
  expect(server.state().intervalSeconds).toBe(300);
  server.run(10 * HOUR);
  expect(server.state().intervalSeconds).toBe(3_600);
  const before = server.samples.length;
  server.run(20 * HOUR);
  expect(server.samples.length - before).toBeGreaterThanOrEqual(18);
  expect(server.samples.length - before).toBeLessThanOrEqual(23);
  expect(server.status()).toBe('offline');
});

it('is unknown and counts nothing while the canary fails, and then continues with the earlier state', () => {
  let end: Check['end'] = 'answered';
  const server = listed(() => end);
  server.run(HOUR);
  end = 'canary-failed';
  server.run(3 * HOUR);
  expect(server.status()).toBe('unknown');
  expect(server.secondsOf('offline')).toBe(0);
  expect(server.samples.at(-1)).toMatchObject({ status: 'unknown', reason: 'canary' });
  expect(server.state().failures).toBe(0);
  end = 'answered';
  server.run(10 * MINUTE);
  expect(server.status()).toBe('online');
});

it('leaves three days without a scheduler unknown, and resets the count of failures after them', () => {
  let end: Check['end'] = 'answered';
  const server = listed(() => end);
  server.run(HOUR);
  end = 'failed';
  server.run(6 * MINUTE);
  const failuresBefore = server.state().failures;
  expect(failuresBefore).toBeGreaterThan(0);
  const counted = server.samples.reduce((sum, { seconds }) => sum + seconds, 0);
  server.rest(3 * DAY);
  expect(server.status()).toBe('unknown');
  server.run(0);
  expect(server.state().failures).toBe(1);
  expect(server.status()).toBe('unknown');
  const added = server.samples.reduce((sum, { seconds }) => sum + seconds, 0) - counted;
  expect(added).toBeLessThanOrEqual(330);
});

it('remembers that a server was offline until it answers, also through unknown time', () => {
  let end: Check['end'] = 'failed';
  const server = listed(() => end);
  server.run(10 * MINUTE);
  const { offlineSince } = server.state();
  expect(offlineSince).not.toBeNull();
  server.rest(3 * DAY);
  server.run(0);
  end = 'canary-failed';
  server.run(10 * MINUTE);
  expect(server.state()).toMatchObject({ status: 'unknown', offlineSince });
  end = 'failed';
  server.run(20 * MINUTE);
  expect(server.state()).toMatchObject({ status: 'offline', offlineSince });
  end = 'answered';
  server.run(10 * MINUTE);
  expect(server.state()).toMatchObject({ status: 'online', offlineSince: null });
});

it('spreads servers that are due at the same time over the whole interval', () => {
  const state = newProbeState(START);
  const planned = Array.from({ length: 1_000 }, () => planOfTake(state, START).claimSeconds);
  for (const quarter of [0, 75, 150, 225]) {
    expect(planned.filter((s) => s >= quarter && s < quarter + 75).length).toBeGreaterThan(100);
  }
  expect(Math.min(...planned)).toBeGreaterThanOrEqual(30);
});

it('is offline after three failing checks by hand in a row, at any interval', () => {
  for (const gap of [0, SECOND, 2 * DAY]) {
    const server = listed(always('failed'));
    for (const status of ['unknown', 'unknown', 'offline']) {
      server.checkByHand();
      expect(server.status()).toBe(status);
      if (status !== 'offline') server.rest(gap);
    }
    expect(server.samples.every(({ seconds }) => seconds === 0)).toBe(true);
  }
});

it('does not count failing checks by hand as in a row with an answer between them', () => {
  const ends: Check['end'][] = ['failed', 'failed', 'answered', 'failed', 'failed'];
  const server = listed(() => ends.shift() ?? 'failed');
  for (let i = 0; i < 5; i += 1) server.checkByHand();
  expect(server.status()).toBe('online');
});

it('is unknown for a server that it refuses to query, and counts nothing', () => {
  const server = listed(always('not-asked'));
  server.run(HOUR);
  expect(server.status()).toBe('unknown');
  expect(server.samples).toEqual([]);
});
