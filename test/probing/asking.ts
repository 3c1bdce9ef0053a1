import ipaddr from 'ipaddr.js';
import { onTestFinished, vi } from 'vitest';
import type { Ask, Probe, ProbeFault, ServerAnswer, Target } from '../../src/probing/ask.ts';
import { createAsk } from '../../src/probing/ask-server.ts';
import type { Lookups } from '../../src/probing/find-server.ts';
import type { GameServer } from '../support/game-servers.ts';

const LOOPBACK = { ALLOWED_PRIVATE_RANGES: [ipaddr.parseCIDR('127.0.0.0/8'), ipaddr.parseCIDR('::1/128')] };

/** A way to ask that may reach this machine. */
export function askHere(lookups?: Lookups): Ask {
  return createAsk(LOOPBACK, lookups);
}

export function at(port: number, game: string, host = '127.0.0.1'): Target {
  return { game, host, port, queryPort: null };
}

/** Starts a responder for the length of a test. */
export async function started<S extends Pick<GameServer, 'start' | 'stop'>>(server: S): Promise<S> {
  await server.start();
  onTestFinished(() => server.stop());
  return server;
}

/** What passes on the clock of `useFastClock` in a millisecond of this process. */
const FAST_CLOCK_STEP_MS = 20;

/**
 * Makes timers and `performance.now()` run 20 times as fast until the test ends. The clock moves only while the event
 * loop turns, so a busy machine slows it down together with the sockets.
 */
export function useFastClock(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  const ticking = setInterval(() => vi.advanceTimersByTime(FAST_CLOCK_STEP_MS), 1);
  onTestFinished(() => {
    clearInterval(ticking);
    vi.useRealTimers();
  });
}

/** Waits for `work` on the clock of `useFastClock`; gives its end and the milliseconds that it took. */
export async function timed<T>(work: Promise<T>): Promise<{ ended: T; tookMs: number }> {
  const began = performance.now();
  const ended = await work;
  return { ended, tookMs: performance.now() - began };
}

/** The answer of a check that is to succeed. */
export function answerOf(probe: Probe): ServerAnswer {
  if (!probe.ok) throw new Error(`Failed with ${probe.fault}: ${probe.words}`);
  return probe.answer;
}

/** The fault of a check that is to fail. */
export function faultOf(probe: Probe): ProbeFault {
  if (probe.ok) throw new Error(`Was answered: ${JSON.stringify(probe.answer)}`);
  return probe.fault;
}
