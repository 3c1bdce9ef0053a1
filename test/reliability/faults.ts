import { setTimeout as pause } from 'node:timers/promises';
import { SECOND } from '../../src/platform/clock.ts';
import type { Platform } from '../../src/process/platform.ts';
import { type FaultProxy, mongoCommand } from '../support/fault-proxy.ts';
import type { Fault } from './plan.ts';
import type { Processes } from './processes.ts';
import type { Target } from './targets.ts';

/** What faults happen to. */
export type Scene = { processes: Processes; targets: Target[]; platform: Platform };

/** Writes whose result matters: of the vote, its counter, its key, its attempts. */
const WRITES = [
  mongoCommand('insert', 'votes'),
  mongoCommand('findAndModify', 'votes'),
  mongoCommand('update', 'votes'),
  mongoCommand('findAndModify', 'vote_counters'),
  mongoCommand('insert', 'idempotency_keys'),
  mongoCommand('update', 'idempotency_keys'),
];

/** Injects one fault and ends it after its duration. */
export async function happen({ kind, lasting, which }: Fault, { processes, targets, platform }: Scene) {
  const pick = <T>(list: T[]): T => list[which % list.length] as T;
  const around = async (begin: () => unknown, mend: () => unknown) => {
    await begin();
    await pause(lasting);
    await patiently(mend);
  };
  const working = targets.filter((target) => target.kind === 'working');
  const listener = pick(working);
  // v1 takes a connection that closes in the middle of a frame for a success: nothing could be judged then.
  const confirming = pick(working.filter(({ confirms }) => confirms));
  const { toMongod, toRedis } = pick([...processes.web, ...processes.workers]);
  switch (kind) {
    case 'kill-web':
      return around(pick(processes.web).kill, pick(processes.web).start);
    case 'kill-worker':
      return around(pick(processes.workers).kill, pick(processes.workers).start);
    case 'kill-scheduler':
      return around(processes.scheduler.kill, processes.scheduler.start);
    case 'kill-mongod':
      return around(processes.mongod.kill, processes.mongod.start);
    case 'kill-redis':
      return around(processes.redis.kill, processes.redis.start);
    case 'stop-web':
      return around(pick(processes.web).stop, pick(processes.web).resume);
    case 'stop-worker':
      return around(pick(processes.workers).stop, pick(processes.workers).resume);
    case 'stop-mongod':
      return around(processes.mongod.stop, processes.mongod.resume);
    case 'stop-redis':
      return around(processes.redis.stop, processes.redis.resume);
    case 'flush-redis':
      return flush(platform, lasting);
    case 'mongod-line-cut':
      return around(toMongod.refuse, toMongod.restore);
    case 'mongod-line-hangs':
      return around(toMongod.hang, toMongod.restore);
    case 'mongod-line-slow':
      return around(() => toMongod.delay(200), toMongod.restore);
    case 'mongod-answer-lost':
      return loseAnswers(toMongod, lasting);
    case 'redis-line-cut':
      return around(toRedis.refuse, toRedis.restore);
    case 'redis-line-slow':
      return around(() => toRedis.delay(200), toRedis.restore);
    case 'listener-away':
      return around(listener.away, listener.back);
    case 'listener-loses-answers':
      return around(confirming.losesAnswers, confirming.behave);
    case 'listener-resets':
      return around(confirming.resets, confirming.behave);
    case 'listener-slow':
      return around(listener.slow, listener.behave);
    case 'listener-line-cut':
      return around(confirming.line.refuse, confirming.line.restore);
    case 'listener-line-slow':
      return around(() => listener.line.delay(300), listener.line.restore);
  }
}

/** Another process may have the port for a moment that a service or listener had and wants again. */
async function patiently(mend: () => unknown): Promise<void> {
  const deadline = performance.now() + 10 * SECOND;
  for (;;) {
    try {
      await mend();
      return;
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await pause(200);
    }
  }
}

/** Empties Redis as soon as it is there, within `lasting` milliseconds. */
async function flush({ producerRedis }: Platform, lasting: number): Promise<void> {
  const deadline = performance.now() + lasting;
  while (performance.now() < deadline) {
    const flushed = producerRedis.flushall().then(
      () => true,
      () => false,
    );
    if (await Promise.race([flushed, pause(lasting, false)])) return;
    await pause(100);
  }
}

/** For `lasting` milliseconds writes reach mongod, one after the other, and their answers are lost. */
async function loseAnswers(line: FaultProxy, lasting: number): Promise<void> {
  const isWrite = (request: Buffer) => WRITES.some((matches) => matches(request));
  const over = new AbortController();
  const timer = setTimeout(() => {
    over.abort();
    line.forget();
  }, lasting);
  while (!over.signal.aborted) {
    await line.cutAfterNext(isWrite).catch(() => undefined);
    await pause(50);
  }
  clearTimeout(timer);
}
