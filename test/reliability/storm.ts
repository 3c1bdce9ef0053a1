import { setTimeout as pause } from 'node:timers/promises';
import type { Binary } from '../../src/own-services/binary.ts';
import { MINUTE, SECOND } from '../../src/platform/clock.ts';
import { within } from '../../src/platform/deadline.ts';
import { createLogger } from '../../src/platform/log.ts';
import { openAppDeps } from '../../src/process/app-deps.ts';
import { concludeHistory } from './conclude-history.ts';
import { addEventDestination, type EventDestination } from './event-destination.ts';
import { faultsOf, ofServices } from './faults.ts';
import { addFetchingTarget } from './fetching-target.ts';
import type { EventReceipt, History, Receipt } from './history.ts';
import type { Inject } from './inject.ts';
import { startLoad } from './load.ts';
import { type Fault, planFaults, randomNumbers, type Span } from './plan.ts';
import { startProcesses, type Topology } from './processes.ts';
import { addTarget, listerOf, type Target } from './targets.ts';

export type StormOptions = {
  binaries: { mongod: Binary; redis: Binary };
  /** A lone mongod and a lone Redis unless it says otherwise. */
  topology?: Partial<Topology>;
  /** Only faults of MongoDB and Redis. */
  onlyServices?: boolean;
  seed: number;
  lengthMs: number;
  votesPerSecond: number;
  /** From the beginning of one fault to that of the next. */
  pauseMs?: Span;
  /** Called when a fault begins. */
  say?: (line: string) => void;
};

/** The result of a storm. */
export type Storm = {
  history: History;
  faults: Fault[];
  /** The kinds of faults that these services and processes can have. */
  kinds: string[];
  /** Writes that a replica set took and rolled back after a failover. */
  rolledBack: number;
};

const PROTOCOLS = ['votifier-v2', 'http', 'votifier-v1', 'votifier-v2'] as const;

/** The first servers have destinations of events. */
const WITH_EVENTS = 2;

/**
 * Runs the real processes under load while they are killed and stopped, their data is flushed, connections are cut and
 * listeners stop and start, as the seed plans it. Then all faults end, unconfirmed votes are resent as an owner would
 * do it, the counters are repaired, some votes are cast without faults, and the history is returned for the judge.
 */
export async function runStorm(options: StormOptions): Promise<Storm> {
  const { seed, lengthMs, votesPerSecond, pauseMs, say = () => undefined } = options;
  const processes = await startProcesses(options.binaries, {
    mongod: 'alone',
    redis: 'alone',
    ...options.topology,
  });
  const quiet = createLogger({ LOG_LEVEL: 'silent' }, 'storm');
  const deps = await openAppDeps(processes.config, 'storm', { log: quiet, mongoOperationMs: MINUTE });
  const receipts: Receipt[] = [];
  const events: EventReceipt[] = [];
  const targets: Target[] = [];
  const destinations: EventDestination[] = [];
  try {
    const lister = listerOf(deps);
    for (const [index, protocol] of PROTOCOLS.entries()) {
      targets.push(await addTarget(lister, { name: `Storm ${index}`, protocol }, receipts));
    }
    const once = { name: 'Sent once', protocol: 'http', maxSendings: 1 } as const;
    targets.push(await addTarget(lister, once, receipts));
    targets.push(await addFetchingTarget(deps, 'Fetching', processes.urls, receipts));
    const failing = { name: 'Failing', protocol: 'votifier-v2', kind: 'always-failing' } as const;
    targets.push(await addTarget(lister, failing, receipts));

    for (const target of targets.slice(0, WITH_EVENTS))
      destinations.push(await addEventDestination(deps, target, events));

    const beganAt = deps.clock.now();
    const load = startLoad(targets, processes.urls, votesPerSecond, randomNumbers(seed + 1));
    const scene = { processes, targets, destinations, deps };
    const injects = options.onlyServices ? ofServices(scene) : faultsOf(scene);
    const kinds = Object.keys(injects);
    const faults = planFaults(kinds, { seed, lengthMs, pauseMs });
    await rage(faults, lengthMs, injects, say);
    await load.stop();
    await processes.mend();
    const faultsEndedAt = Date.now();
    await processes.untilReady();
    say(`calm: ${load.calls.length} calls, ${receipts.length} receipts so far`);
    const { urls, crashes } = processes;
    const seen = { calls: load.calls, receipts, events, crashes, faultsEndedAt };
    const history = await concludeHistory(deps, { urls, targets, destinations, beganAt }, seen);
    return { history, faults, kinds, rolledBack: (await processes.mongod.rolledBack?.()) ?? 0 };
  } finally {
    await deps.close();
    for (const one of [...targets, ...destinations]) await one.close();
    await processes.close();
  }
}

/** How long the end of a fault may take: a service may need 60 s for its start. */
const MENDING_MS = 2 * MINUTE;

/** Injects every fault at its time, and waits until the last one has ended. */
async function rage(
  faults: Fault[],
  lengthMs: number,
  injects: Record<string, Inject>,
  say: (line: string) => void,
): Promise<void> {
  const began = performance.now();
  const until = (ms: number) => pause(Math.max(0, began + ms - performance.now()));
  const mending: Promise<void>[] = [];
  for (const fault of faults) {
    await until(fault.at);
    const { at, kind, lasting } = fault;
    const what = `${String(Math.round(at / SECOND)).padStart(4)} s  ${kind} for ${lasting} ms`;
    say(what);
    const mended = injects[kind]?.(fault) ?? Promise.reject(new Error('there is no such fault'));
    mending.push(
      within(lasting + MENDING_MS, mended).catch((cause) => {
        throw new Error(`This fault did not end: ${what.trim()}`, { cause });
      }),
    );
  }
  await Promise.all(mending);
  await until(lengthMs);
}
