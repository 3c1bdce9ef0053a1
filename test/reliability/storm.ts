import { setTimeout as pause } from 'node:timers/promises';
import { ObjectId } from 'mongodb';
import { MINUTE, SECOND } from '../../src/clock.ts';
import { resendVotes } from '../../src/delivery/resend-votes.ts';
import type { Binary } from '../../src/embedded/binary.ts';
import { createLogger } from '../../src/log.ts';
import { dayOf } from '../../src/periods/period-marks.ts';
import { openPlatform, type Platform } from '../../src/platform.ts';
import { recountVotes } from '../../src/votes/recount-votes.ts';
import type { Vote } from '../../src/votes/vote.ts';
import type { History, Listed, Receipt, StoredVote } from './history.ts';
import { type House, openHouse } from './house.ts';
import { startLoad } from './load.ts';
import { type Fault, planFaults, randomNumbers } from './plan.ts';
import { addTarget, type Target } from './targets.ts';

export type StormOptions = {
  binaries: { mongod: Binary; redis: Binary };
  seed: number;
  lengthMs: number;
  votesPerSecond: number;
  /** Hears of each fault as it begins. */
  say?: (line: string) => void;
};

/** What a storm left behind: everything that happened, and how many faults there were of each kind. */
export type Storm = { history: History; faults: Fault[] };

/** After the last fault every vote of a working listener is expected within a minute. */
const CALM_MS = 75 * SECOND;

/**
 * Runs the real processes under load while they are killed and stopped, their data is flushed, lines are cut and
 * listeners come and go, as the seed plans it. Then everything is mended, what is unconfirmed is sent again as an
 * owner would, and the history is returned for the judge.
 */
export async function runStorm(options: StormOptions): Promise<Storm> {
  const { seed, lengthMs, votesPerSecond, say = () => undefined } = options;
  const house = await openHouse(options.binaries);
  const quiet = createLogger({ LOG_LEVEL: 'silent' }, 'storm');
  const platform = await openPlatform(house.config, 'storm', { log: quiet, mongoOperationMs: MINUTE });
  const receipts: Receipt[] = [];
  const targets: Target[] = [];
  try {
    for (const [index, protocol] of (
      ['votifier-v2', 'http', 'votifier-v1', 'votifier-v2'] as const
    ).entries()) {
      targets.push(await addTarget(platform, { name: `Storm ${index}`, protocol }, receipts));
    }
    const failing = { name: 'Failing', protocol: 'votifier-v2', kind: 'always-failing' } as const;
    targets.push(await addTarget(platform, failing, receipts));

    const load = startLoad(targets, house.urls, votesPerSecond, randomNumbers(seed + 1));
    const faults = planFaults(seed, lengthMs);
    await rage(faults, { house, targets, platform, lengthMs, say });
    await load.stop();
    await house.mend();
    const faultsEndedAt = Date.now();
    say(`calm: ${load.calls.length} calls, ${receipts.length} receipts so far`);
    await settle(platform, targets);
    const history = await collect(platform, house, { calls: load.calls, receipts, targets, faultsEndedAt });
    return { history, faults };
  } finally {
    await platform.close();
    for (const target of targets) await target.close();
    await house.close();
  }
}

type Scene = {
  house: House;
  targets: Target[];
  platform: Platform;
  lengthMs: number;
  say: (line: string) => void;
};

/** Lets every fault happen at its time, and waits until the last is mended. */
async function rage(faults: Fault[], scene: Scene): Promise<void> {
  const began = performance.now();
  const until = (ms: number) => pause(Math.max(0, began + ms - performance.now()));
  const mending: Promise<void>[] = [];
  for (const fault of faults) {
    await until(fault.at);
    scene.say(
      `${String(Math.round(fault.at / SECOND)).padStart(4)} s  ${fault.kind} for ${fault.lasting} ms`,
    );
    mending.push(happen(fault, scene));
  }
  await Promise.all(mending);
  await until(scene.lengthMs);
}

async function happen({ kind, lasting, which }: Fault, scene: Scene): Promise<void> {
  const { house, platform } = scene;
  const pick = <T>(list: T[]): T => list[which % list.length] as T;
  const last = () => pause(lasting);
  /** Two faults of one thing may overlap: the later mending finds it mended. */
  const around = async (begin: () => unknown, mend: () => unknown) => {
    await begin();
    await last();
    await mend();
  };
  const working = scene.targets.filter((target) => target.kind === 'working');
  // A line that breaks, or a listener that goes, in the middle of a frame looks like a success in v1.
  const { line, ...listener } = pick(working.filter(({ confirms }) => confirms));
  switch (kind) {
    case 'kill-web':
      return around(pick(house.web).kill, pick(house.web).start);
    case 'kill-worker':
      return around(pick(house.workers).kill, pick(house.workers).start);
    case 'kill-scheduler':
      return around(house.scheduler.kill, house.scheduler.start);
    case 'kill-mongod':
      return around(house.mongod.kill, house.mongod.start);
    case 'kill-redis':
      return around(house.redis.kill, house.redis.start);
    case 'stop-mongod':
      return around(house.mongod.stop, house.mongod.goOn);
    case 'stop-redis':
      return around(house.redis.stop, house.redis.goOn);
    case 'flush-redis':
      // It may be away at this moment: then there is nothing to flush.
      return void (await Promise.race([platform.producerRedis.flushall().catch(() => undefined), last()]));
    case 'listener-away':
      return around(listener.away, () => listener.back().catch(() => undefined));
    case 'listener-loses-answers':
      return around(listener.losesAnswers, listener.behave);
    case 'listener-resets':
      return around(listener.resets, listener.behave);
    case 'listener-slow':
      return around(pick(working).slow, pick(working).behave);
    case 'line-cut':
      return around(line.refuse, line.restore);
    case 'line-slow':
      return around(() => line.delay(300), line.restore);
  }
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
  while ((await open()) > 0 && Date.now() < deadline) await pause(100);
  for (const serverId of working) {
    const range = { since: new Date(0), until: new Date(), states: ['unconfirmed' as const] };
    await resendVotes(platform, serverId, range, 'storm');
  }
  while ((await open()) > 0 && Date.now() < deadline) await pause(100);
}

type Seen = Pick<History, 'calls' | 'receipts' | 'faultsEndedAt'> & { targets: Target[] };

async function collect(platform: Platform, { urls }: House, seen: Seen): Promise<History> {
  const { targets, ...rest } = seen;
  const votes = await platform.votes.find({}).sort({ votedAt: 1 }).toArray();
  const servers: Listed[] = [];
  const today = [dayOf(platform.clock.now())];
  await Promise.all(targets.map(({ serverId }) => recountVotes(platform, new ObjectId(serverId), today)));
  for (const { serverId, kind, confirms, token } of targets) {
    const info = await fetch(`${urls[0]}/api/v1/servers/${serverId}/info`, {
      headers: { authorization: `Bearer ${token}` },
    });
    const { monthly_votes: monthly, all_time_votes: allTime } = (await info.json()) as Record<string, number>;
    servers.push({
      serverId,
      listener: kind,
      confirms,
      counted: { monthly: monthly ?? -1, allTime: allTime ?? -1 },
    });
  }
  return { ...rest, votes: votes.map(stored), servers };
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
