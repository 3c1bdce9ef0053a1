import { setTimeout as pause } from 'node:timers/promises';
import { schedule } from 'node-cron';
import { SECOND } from '../src/platform/clock.ts';
import { type Payload, QUEUE_NAMES, type QueueName } from '../src/platform/queues.ts';
import { takeDueServers } from '../src/probing/take-due-probes.ts';
import type { AppDeps } from '../src/process/app-deps.ts';
import type { Work } from '../src/process/process.ts';
import { CRON, type QueueWork } from './queue-work.ts';
import { WORKS } from './works.ts';

/** Redis is often not connected at the start, and the next time by the cron expression may be an hour away. */
const RETRY_MS = SECOND;

/** The job of a day has the day in its name. Returns whether Redis accepted all. */
export async function addDueJobs(deps: AppDeps, name: QueueName): Promise<boolean> {
  const { producer, log } = deps;
  const { period } = WORKS[name] as QueueWork<QueueName>;
  if (!period?.due) return producer.add(name, {} as Payload<typeof name>);
  const payloads = await period.due(deps);
  const jobs = payloads.map((payload) => ({ payload, subject: 'day' in payload ? payload.day : '' }));
  if ((await producer.addAll(name, jobs)) < jobs.length) return false;
  const days = jobs.flatMap(({ subject }) => subject || []);
  if (days.length > 0) log.info({ event: 'schedule.enqueued', work: name, days });
  return true;
}

async function runRound(deps: AppDeps, work: QueueName, stopping: AbortSignal): Promise<void> {
  while (!stopping.aborted) {
    try {
      if (await addDueJobs(deps, work)) return;
    } catch (error) {
      deps.log.warn({ event: 'schedule.failed', work, reason: String(error) });
    }
    await pause(RETRY_MS, undefined, { signal: stopping }).catch(() => undefined);
  }
}

/**
 * Each kind of work runs once at the start, then by its cron expression. Stops when `stopping` is aborted; `close()`
 * waits for what is still running.
 */
export function buildScheduler(deps: AppDeps, { stopping }: { stopping: AbortSignal }): Work {
  const taking = takeProbes(deps, stopping);
  const running = QUEUE_NAMES.flatMap((work) => {
    const { period } = WORKS[work];
    if (!period) return [];
    let round: Promise<void> | undefined;
    /** Nothing if an earlier call is still waiting for Redis. */
    const run = () => {
      round ??= runRound(deps, work, stopping).finally(() => {
        round = undefined;
      });
      return round;
    };
    const logger = deps.log.child({ event: 'schedule.cron', work });
    const task = schedule(CRON[period.every], run, { timezone: 'UTC', name: work, logger });
    void run();
    return [{ task, ended: () => round }];
  });
  return {
    async close() {
      await Promise.all(running.map(({ task }) => task.destroy()));
      await Promise.all([taking, ...running.map(({ ended }) => ended())]);
    },
  };
}

/** How often due probes are taken. A new server must be probed within 10 s; a cron expression has steps of a minute. */
export const TAKE_ROUND_MS = SECOND;

/** If a take fails, the next one still follows. */
async function takeProbes(deps: AppDeps, stopping: AbortSignal): Promise<void> {
  const { log, config } = deps;
  if (config.PROBES === 'off') return;
  while (!stopping.aborted) {
    try {
      const taken = await takeDueServers(deps);
      if (taken > 0) log.debug({ event: 'probe.claimed', taken });
    } catch (error) {
      log.warn({ event: 'probe.not_claimed', reason: String(error) });
    }
    await pause(TAKE_ROUND_MS, undefined, { signal: stopping }).catch(() => undefined);
  }
}
