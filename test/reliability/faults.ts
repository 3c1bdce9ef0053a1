import { setTimeout as pause } from 'node:timers/promises';
import { Cluster } from 'ioredis';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { type FaultProxy, mongoCommand } from '../support/fault-proxy.ts';
import type { EventDestination } from './event-destination.ts';
import { during, type Inject, killing, onLine, pick, stopping } from './inject.ts';
import type { Processes } from './processes.ts';
import type { Listening, Target } from './targets.ts';

/** The targets of faults. */
export type Scene = {
  processes: Processes;
  targets: Target[];
  destinations: EventDestination[];
  deps: AppDeps;
};

/** Writes whose result matters: of the vote, its counter, its key, its attempts. */
const WRITES = [
  mongoCommand('insert', 'votes'),
  mongoCommand('findAndModify', 'votes'),
  mongoCommand('update', 'votes'),
  mongoCommand('findAndModify', 'vote_counters'),
  mongoCommand('insert', 'idempotency_keys'),
  mongoCommand('update', 'idempotency_keys'),
];

/** Every fault that can be injected into these processes, services and listeners. */
export function faultsOf(scene: Scene): Record<string, Inject> {
  return { ...ofProcesses(scene), ...ofServices(scene), ...ofListeners(scene) };
}

function ofProcesses({ processes: { web, workers, scheduler } }: Scene): Record<string, Inject> {
  return {
    'kill-web': killing((which) => pick(web, which)),
    'kill-worker': killing((which) => pick(workers, which)),
    'kill-scheduler': killing(() => scheduler),
    'stop-web': stopping((which) => pick(web, which)),
    'stop-worker': stopping((which) => pick(workers, which)),
  };
}

/** The faults of MongoDB and Redis, and of the connections to them. */
export function ofServices({ processes, deps }: Scene): Record<string, Inject> {
  const members = [...processes.web, ...processes.workers];
  const toMongod = (which: number) => pick(members, which).toMongod();
  const toRedis = (which: number) => pick(members, which).toRedis();
  return {
    ...processes.mongod.faults,
    ...processes.redis.faults,
    'flush-redis': ({ lasting }) => flush(deps, lasting),
    'mongod-line-cut': onLine(toMongod, (line) => line.refuse()),
    'mongod-line-hangs': onLine(toMongod, (line) => line.hang()),
    'mongod-line-slow': onLine(toMongod, (line) => line.delay(200)),
    'mongod-answer-lost': async ({ lasting, which }) => loseAnswers(await toMongod(which), lasting),
    'redis-line-cut': onLine(toRedis, (line) => line.refuse()),
    'redis-line-slow': onLine(toRedis, (line) => line.delay(200)),
  };
}

function ofListeners({ targets, destinations }: Scene): Record<string, Inject> {
  const working = targets.filter((target) => target.kind === 'working');
  // In v1 a connection that closes in the middle of a frame counts as a success, so nothing could be judged.
  const confirming = working.filter(({ confirms }) => confirms);
  const websites = working.filter(({ answers504 }) => answers504);
  const on =
    (
      some: (Listening & Pick<Target, 'answers504'>)[],
      begin: keyof Listening | 'answers504',
      mend: keyof Listening,
    ): Inject =>
    ({ lasting, which }) => {
      const target = pick(some, which);
      return during(lasting, () => target[begin]?.(), target[mend]);
    };
  return {
    'listener-away': on(working, 'away', 'back'),
    'listener-loses-answers': on(confirming, 'losesAnswers', 'behave'),
    'listener-resets': on(confirming, 'resets', 'behave'),
    'listener-answers-504': on(websites, 'answers504', 'behave'),
    'listener-slow': on(working, 'slow', 'behave'),
    'destination-away': on(destinations, 'away', 'back'),
    'destination-loses-answers': on(destinations, 'losesAnswers', 'behave'),
    'destination-answers-504': on(destinations, 'answers504', 'behave'),
    'listener-line-cut': onLine(
      (which) => pick(confirming, which).line,
      (line) => line.refuse(),
    ),
    'listener-line-slow': onLine(
      (which) => pick(working, which).line,
      (line) => line.delay(300),
    ),
  };
}

/** Empties Redis as soon as it answers, within `lasting` milliseconds. */
async function flush({ producerRedis }: AppDeps, lasting: number): Promise<void> {
  const deadline = performance.now() + lasting;
  while (performance.now() < deadline) {
    const nodes = producerRedis instanceof Cluster ? producerRedis.nodes('master') : [producerRedis];
    const flushed = Promise.all(nodes.map((node) => node.flushall())).then(
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
