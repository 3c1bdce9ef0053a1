import type { Processor } from 'bullmq';
import type { TopologyDescription, TopologyDescriptionChangedEvent } from 'mongodb';
import { DeadlineError } from '../src/platform/deadline.ts';
import type { AppDeps } from '../src/process/app-deps.ts';

/** The driver's types of servers that take writes. */
const WRITABLE = new Set<string>(['Standalone', 'RSPrimary', 'Mongos', 'LoadBalancer']);

/** The workers of a process; `pause` lets running jobs go on. */
type Workers = { pause(): void; resume(): void };

/** See `withoutMongodb`. */
export type MongodbWatch = {
  /** Whether MongoDB is away now. */
  isAway(): boolean;
  /** Wraps the processor of a delivery queue: its jobs are given up while its work goes on. */
  givingUp(process: Processor): Processor;
  close(): void;
};

/**
 * While this process reaches no MongoDB server that takes writes, it takes no jobs: other processes may reach one. After
 * the time of a lease it gives up its running jobs of delivery: their leases have expired, and BullMQ starts no other job
 * for a listener while one is active. The work itself goes on, and records its outcomes when MongoDB is back (ADR 107).
 *
 * @param goingOn - gets the work of jobs that were given up, until it ends
 */
export function withoutMongodb(
  { mongo, config, log }: Pick<AppDeps, 'mongo' | 'config' | 'log'>,
  workers: Workers,
  goingOn: Set<Promise<unknown>>,
): MongodbWatch {
  const client = mongo.connection.getClient();
  /** The work of each running job of delivery, and what gives the job up. */
  const running = new Map<Promise<unknown>, (error: Error) => void>();
  let isAway = false;
  let timer: NodeJS.Timeout | undefined;

  // Not mongoose's events and `readyState`: those miss a replica set that hangs, and report a process that was suspended.
  function onChange({ newDescription }: TopologyDescriptionChangedEvent): void {
    const wasAway = isAway;
    isAway = !takesWrites(newDescription);
    if (isAway && !wasAway) onAway();
    if (!isAway && wasAway) onBack();
  }

  function onAway(): void {
    log.warn({ event: 'mongodb.away' }, 'this process takes no jobs until it reaches MongoDB again');
    workers.pause();
    timer = setTimeout(giveUp, config.LEASE_MS);
  }

  function onBack(): void {
    log.info({ event: 'mongodb.back' });
    clearTimeout(timer);
    workers.resume();
  }

  function giveUp(): void {
    if (running.size > 0) log.warn({ event: 'mongodb.jobs_given_up', jobs: running.size });
    for (const [work, giveUpJob] of running) {
      goingOn.add(work);
      giveUpJob(new DeadlineError(config.LEASE_MS));
    }
    running.clear();
  }

  client.on('topologyDescriptionChanged', onChange);
  return {
    isAway: () => isAway,
    givingUp: (process) => async (job, token, signal) => {
      // BullMQ may take one more job after a pause.
      if (isAway) {
        const noted = { queue: job.queueName, jobId: job.id, payload: job.data };
        log.warn({ event: 'job.postponed', ...noted, reason: 'MongoDB is away' });
        return { postponed: true };
      }
      const { promise, resolve, reject } = Promise.withResolvers<unknown>();
      const work = process(job, token, signal)
        .then(resolve, reject)
        .finally(() => {
          running.delete(work);
          goingOn.delete(work);
        });
      running.set(work, reject);
      return promise;
    },
    close() {
      clearTimeout(timer);
      client.off('topologyDescriptionChanged', onChange);
    },
  };
}

function takesWrites({ servers }: TopologyDescription): boolean {
  return [...servers.values()].some(({ type }) => WRITABLE.has(type));
}
