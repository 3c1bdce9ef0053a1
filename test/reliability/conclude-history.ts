import { setTimeout as pause } from 'node:timers/promises';
import { ObjectId } from 'mongodb';
import { resumeListener } from '../../src/delivery/change-listener.ts';
import { resendVotes } from '../../src/delivery/resend-votes.ts';
import { resumeSubscription } from '../../src/events/subscriptions.ts';
import { after, MINUTE, SECOND } from '../../src/platform/clock.ts';
import { dayOf } from '../../src/platform/periods/period-marks.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { recountVotes } from '../../src/votes/recount-votes.ts';
import type { Vote } from '../../src/votes/vote.ts';
import { sum } from '../../src/votes/vote-counts.ts';
import type { EventDestination } from './event-destination.ts';
import type { EventReceipt, History, Listed, StoredVote } from './history.ts';
import { castAll } from './load.ts';
import { listerOf, type Target } from './targets.ts';

/** After the last fault every vote of a working listener is expected within a minute. */
const CALM_MS = 75 * SECOND;

/** The number of votes that are cast for each server after all faults ended, through every web process at once. */
const FAIR_WEATHER_VOTES = 20;

type Scene = {
  /** Of the web processes. */
  urls: string[];
  targets: Target[];
  destinations: EventDestination[];
  /** When the first vote may have been cast. */
  beganAt: Date;
};

/**
 * Completes a history for the judge when all faults have ended: waits for the open votes, resends unconfirmed ones as
 * an owner would do it, repairs the counters, casts some votes without faults, and reads what is stored.
 */
export async function concludeHistory(
  deps: AppDeps,
  scene: Scene,
  seen: Pick<History, 'calls' | 'receipts' | 'events' | 'crashes' | 'faultsEndedAt'>,
): Promise<History> {
  const { urls, targets, destinations, beganAt } = scene;
  await settle(deps, targets);
  await incrementsWritten(deps, urls);
  const drifts = await repair(deps, targets, beganAt);
  const repairedAt = Date.now();
  const calls = [...seen.calls, ...(await castAll(targets, urls, FAIR_WEATHER_VOTES))];
  await settle(deps, targets);
  await untilEventsArrived(deps, destinations, seen.events);
  return collect(deps, scene, { ...seen, calls, drifts, repairedAt });
}

/** Waits until all votes of working listeners have arrived; resends unconfirmed ones, as an owner would. */
async function settle(deps: AppDeps, targets: Target[]): Promise<void> {
  const deadline = Date.now() + CALM_MS;
  const working = targets.filter(({ kind }) => kind === 'working').map((t) => new ObjectId(t.serverId));
  const open = () =>
    deps.votes.countDocuments({
      serverId: { $in: working },
      'delivery.state': { $in: ['waiting', 'sending'] },
    });
  /** If a fault hit a listener before its first vote, the listener is paused: its owner resumes it. */
  const resumeHeld = async () => {
    const held = deps.listeners.find({ serverId: { $in: working }, 'pause.code': 'never-acknowledged' });
    for await (const { serverId } of held) await resumeListener(deps, serverId, 'storm');
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
    await resendVotes(deps, serverId, range, 'storm');
  }
  await untilNoneIsOpen();
}

/** An owner resumes a destination that waits after its faults, and would else get the next event minutes later. */
async function untilEventsArrived(
  deps: AppDeps,
  destinations: EventDestination[],
  events: EventReceipt[],
): Promise<void> {
  const deadline = Date.now() + CALM_MS;
  const arrivedOf = (serverId: string) =>
    new Set(events.filter((event) => event.serverId === serverId).map(({ about }) => about)).size;
  for (const { serverId: server, subscriptionId, goalTarget } of destinations) {
    const serverId = new ObjectId(server);
    const votes = await deps.votes.countDocuments({ serverId });
    const wanted = votes + Math.floor(votes / goalTarget);
    while (arrivedOf(server) < wanted && Date.now() < deadline) {
      const waits = await deps.subscriptions.findOne({
        _id: subscriptionId,
        notBefore: { $gt: deps.clock.now() },
      });
      if (waits) await resumeSubscription(deps, { serverId, subscriptionId }, 'storm');
      await pause(200);
    }
  }
}

/**
 * Waits until the increments of all votes so far are written or lost: after an outage a batch may wait for the batch
 * before it. A web process writes its batches in order. So one more vote is cast through it, and when that vote is
 * counted, earlier ones are done.
 */
async function incrementsWritten(deps: AppDeps, urls: string[]): Promise<void> {
  const lister = listerOf(deps);
  const serverId = await lister.addServer('Counted last');
  const token = await lister.issueToken(serverId);
  const cast = await castAll([{ serverId, token }], urls, urls.length);
  const accepted = cast.filter(({ answer }) => answer.kind === 'accepted').length;
  const counted = async () => {
    const counters = await deps.voteCounters.find({ serverId: new ObjectId(serverId) }).toArray();
    return sum(counters.flatMap(({ days }) => Object.values(days)));
  };
  const deadline = Date.now() + CALM_MS;
  while ((await counted()) < accepted && Date.now() < deadline) await pause(50);
}

/** Repairs the counters of the storm's days; returns by how many votes they were wrong. */
async function repair(deps: AppDeps, targets: Target[], beganAt: Date): Promise<number> {
  // No more votes are cast, so the last minute is already settled.
  const clock = { now: () => after(deps.clock.now(), 2 * MINUTE) };
  const days = [...new Set([dayOf(beganAt), dayOf(deps.clock.now())])];
  const found = await Promise.all(
    targets.map(({ serverId }) => recountVotes({ ...deps, clock }, new ObjectId(serverId), days)),
  );
  return found.flat().reduce((sum, { counted, votes }) => sum + Math.abs(votes - counted), 0);
}

async function collect(
  deps: AppDeps,
  { urls, targets, destinations, beganAt }: Scene,
  seen: Omit<History, 'votes' | 'servers'>,
): Promise<History> {
  // Increments are written 100 ms after their votes.
  await pause(SECOND);
  const votes = await deps.votes
    .find({
      serverId: { $in: targets.map(({ serverId }) => new ObjectId(serverId)) },
      votedAt: { $gte: beganAt },
    })
    .sort({ votedAt: 1 })
    .toArray();
  const servers: Listed[] = [];
  for (const { serverId, kind, token, maxSendings, mayReorder } of targets) {
    const info = await fetch(`${urls[0]}/api/v1/servers/${serverId}/info`, {
      headers: { authorization: `Bearer ${token}` },
    });
    const { monthly_votes: monthly, all_time_votes: allTime } = (await info.json()) as Record<string, number>;
    const { goalTarget } = destinations.find((one) => one.serverId === serverId) ?? {};
    servers.push({
      serverId,
      listener: kind,
      ...(goalTarget ? { goalTarget } : {}),
      maxSendings,
      ...(mayReorder ? { mayReorder } : {}),
      counted: { monthly: monthly ?? -1, allTime: allTime ?? -1 },
    });
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
    serverErrors: delivery.codes?.['http-unavailable'] ?? 0,
    resends: delivery.events.filter(({ kind }) => kind === 'resent').length,
  };
}
