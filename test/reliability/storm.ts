import { setTimeout as pause } from 'node:timers/promises';
import { ObjectId } from 'mongodb';
import { resumeListener } from '../../src/delivery/listeners.ts';
import { resendVotes } from '../../src/delivery/resend-votes.ts';
import type { Binary } from '../../src/embedded/binary.ts';
import { after, MINUTE, SECOND } from '../../src/platform/clock.ts';
import { createLogger } from '../../src/platform/log.ts';
import { dayOf } from '../../src/platform/periods/period-marks.ts';
import { openPlatform, type Platform } from '../../src/process/platform.ts';
import { recountVotes } from '../../src/votes/recount-votes.ts';
import type { Vote } from '../../src/votes/vote.ts';
import { happen, type Scene } from './faults.ts';
import type { History, Listed, Receipt, StoredVote } from './history.ts';
import { castAll, startLoad } from './load.ts';
import { type Fault, planFaults, randomNumbers, type Span } from './plan.ts';
import { type Processes, startProcesses } from './processes.ts';
import { addTarget, type Target } from './targets.ts';

export type StormOptions = {
  binaries: { mongod: Binary; redis: Binary };
  seed: number;
  lengthMs: number;
  votesPerSecond: number;
  /** From the beginning of one fault to that of the next. */
  pauseMs?: Span;
  /** Called when a fault begins. */
  say?: (line: string) => void;
};

/** What a storm left behind: everything that happened, and the faults that it had. */
export type Storm = { history: History; faults: Fault[] };

/** After the last fault every vote of a working listener is expected within a minute. */
const CALM_MS = 75 * SECOND;

/** So many votes for each server are cast when all is mended, through every web process at once. */
const FAIR_WEATHER_VOTES = 20;

const PROTOCOLS = ['votifier-v2', 'http', 'votifier-v1', 'votifier-v2'] as const;

/**
 * Runs the real processes under load while they are killed and stopped, their data is flushed, lines are cut and
 * listeners come and go, as the seed plans it. Then everything is mended, what is unconfirmed is sent again as an
 * owner would, the counters are repaired, some votes are cast in fair weather, and the history is returned for
 * the judge.
 */
export async function runStorm(options: StormOptions): Promise<Storm> {
  const { seed, lengthMs, votesPerSecond, pauseMs, say = () => undefined } = options;
  const processes = await startProcesses(options.binaries);
  const quiet = createLogger({ LOG_LEVEL: 'silent' }, 'storm');
  const platform = await openPlatform(processes.config, 'storm', { log: quiet, mongoOperationMs: MINUTE });
  const receipts: Receipt[] = [];
  const targets: Target[] = [];
  try {
    for (const [index, protocol] of PROTOCOLS.entries()) {
      targets.push(await addTarget(platform, { name: `Storm ${index}`, protocol }, receipts));
    }
    const failing = { name: 'Failing', protocol: 'votifier-v2', kind: 'always-failing' } as const;
    targets.push(await addTarget(platform, failing, receipts));

    const beganAt = platform.clock.now();
    const load = startLoad(targets, processes.urls, votesPerSecond, randomNumbers(seed + 1));
    const faults = planFaults(seed, lengthMs, pauseMs);
    await rage(faults, lengthMs, { processes, targets, platform }, say);
    await load.stop();
    await processes.mend();
    const faultsEndedAt = Date.now();
    await processes.untilReady();
    say(`calm: ${load.calls.length} calls, ${receipts.length} receipts so far`);
    await settle(platform, targets);
    const drifts = await repair(platform, targets, beganAt);
    const repairedAt = Date.now();
    const calls = [...load.calls, ...(await castAll(targets, processes.urls, FAIR_WEATHER_VOTES))];
    await settle(platform, targets);
    const { crashes } = processes;
    const seen = { calls, receipts, crashes, drifts, faultsEndedAt, repairedAt };
    return { history: await collect(platform, processes, targets, seen), faults };
  } finally {
    await platform.close();
    for (const target of targets) await target.close();
    await processes.close();
  }
}

/** Lets every fault happen at its time, and waits until the last is mended. */
async function rage(
  faults: Fault[],
  lengthMs: number,
  scene: Scene,
  say: (line: string) => void,
): Promise<void> {
  const began = performance.now();
  const until = (ms: number) => pause(Math.max(0, began + ms - performance.now()));
  const mending: Promise<void>[] = [];
  for (const fault of faults) {
    await until(fault.at);
    const { at, kind, lasting } = fault;
    say(`${String(Math.round(at / SECOND)).padStart(4)} s  ${kind} for ${lasting} ms`);
    mending.push(happen(fault, scene));
  }
  await Promise.all(mending);
  await until(lengthMs);
}

/** Waits until no working listener has a vote to come; sends what is unconfirmed again, as its owner would. */
async function settle(platform: Platform, targets: Target[]): Promise<void> {
  const deadline = Date.now() + CALM_MS;
  const working = targets.filter(({ kind }) => kind === 'working').map((t) => new ObjectId(t.serverId));
  const open = () =>
    platform.votes.countDocuments({
      serverId: { $in: working },
      'delivery.state': { $in: ['waiting', 'sending'] },
    });
  /** Listeners that a fault met before their first vote hold their votes: their owners resume them. */
  const resumeHeld = async () => {
    const held = platform.listeners.find({ serverId: { $in: working }, 'pause.code': 'never-acknowledged' });
    for await (const { serverId } of held) await resumeListener(platform, serverId, 'storm');
  };
  const untilNoneIsOpen = async () => {
    while ((await open()) > 0 && Date.now() < deadline) {
      await resumeHeld();
      await pause(100);
    }
  };
  await untilNoneIsOpen();
  for (const serverId of working) {
    const range = { since: new Date(0), until: new Date(), states: ['unconfirmed' as const] };
    await resendVotes(platform, serverId, range, 'storm');
  }
  await untilNoneIsOpen();
}

/** Repairs the counters of the storm's days; returns by how many votes they were wrong. */
async function repair(platform: Platform, targets: Target[], beganAt: Date): Promise<number> {
  // Nobody casts any more, so the last minute is as settled as it will be in two.
  const clock = { now: () => after(platform.clock.now(), 2 * MINUTE) };
  const days = [...new Set([dayOf(beganAt), dayOf(platform.clock.now())])];
  const found = await Promise.all(
    targets.map(({ serverId }) => recountVotes({ ...platform, clock }, new ObjectId(serverId), days)),
  );
  return found.flat().reduce((sum, { counted, votes }) => sum + Math.abs(votes - counted), 0);
}

async function collect(
  platform: Platform,
  { urls }: Processes,
  targets: Target[],
  seen: Omit<History, 'votes' | 'servers'>,
): Promise<History> {
  // Increments are written 100 ms after their votes.
  await pause(SECOND);
  const votes = await platform.votes.find({}).sort({ votedAt: 1 }).toArray();
  const servers: Listed[] = [];
  for (const { serverId, kind, token } of targets) {
    const info = await fetch(`${urls[0]}/api/v1/servers/${serverId}/info`, {
      headers: { authorization: `Bearer ${token}` },
    });
    const { monthly_votes: monthly, all_time_votes: allTime } = (await info.json()) as Record<string, number>;
    servers.push({ serverId, listener: kind, counted: { monthly: monthly ?? -1, allTime: allTime ?? -1 } });
  }
  return { ...seen, votes: votes.map(stored), servers };
}

function stored({ _id, serverId, username, votedAt, delivery }: Vote): StoredVote {
  return {
    voteId: _id.toString(),
    serverId: serverId.toHexString(),
    username,
    votedAt: votedAt.getTime(),
    state: delivery.state,
    ...(delivery.deliveredAt ? { deliveredAt: delivery.deliveredAt.getTime() } : {}),
    attemptCount: delivery.attemptCount,
    attempts: delivery.attempts.map(({ at, code, class: of, lateAt }) => ({
      at: at.getTime(),
      ...(code ? { code } : {}),
      ...(of ? { class: of } : {}),
      ...(lateAt ? { late: true as const } : {}),
    })),
    ends: delivery.ends,
  };
}
