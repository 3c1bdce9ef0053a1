import type { Processor, Worker } from 'bullmq';
import type { TopologyDescription, TopologyDescriptionChangedEvent } from 'mongodb';
import { DeadlineError } from '../src/platform/deadline.ts';
import type { AppDeps } from '../src/process/app-deps.ts';

const WRITABLE = new Set<string>(['Standalone', 'RSPrimary', 'Mongos', 'LoadBalancer']);

/**
 * While this process reaches no MongoDB server that accepts writes, it takes no jobs, because other processes may reach
 * one. If this lasts for the time of a lease, its running delivery jobs are given up, so that other processes can take
 * over: while a job is active, BullMQ starts no other job for the same listener. The work itself goes on, and records
 * its outcomes when MongoDB is back (ADR 107).
 *
 * @param runningWork - gets the work of each given-up job, until it ends
 */
export function withoutMongodb(
  { mongo, config, log }: Pick<AppDeps, 'mongo' | 'config' | 'log'>,
  workers: () => Worker[],
  runningWork: Set<Promise<unknown>>,
): { givingUp(process: Processor): Processor; close(): void } {
  const client = mongo.connection.getClient();
  /** The work of each running delivery job, with a function that ends the job with an error. */
  const running = new Map<Promise<unknown>, (error: Error) => void>();
  let isAway = false;
  let timer: NodeJS.Timeout | undefined;

  // The events and `readyState` of mongoose are not used: if a replica set hangs, they do not change, and if the
  // process was only suspended, they do.
  function onChange({ newDescription }: TopologyDescriptionChangedEvent): void {
    const wasAway = isAway;
    isAway = !takesWrites(newDescription);
    if (isAway && !wasAway) onAway();
    if (!isAway && wasAway) onBack();
  }

  function onAway(): void {
    log.warn({ event: 'mongodb.away' }, 'this process takes no jobs until it reaches MongoDB again');
    // Their running jobs go on.
    for (const worker of workers()) void worker.pause(true);
    timer = setTimeout(giveUp, config.LEASE_MS);
  }

  function onBack(): void {
    log.info({ event: 'mongodb.back' });
    clearTimeout(timer);
    for (const worker of workers()) void worker.resume();
  }

  function giveUp(): void {
    if (running.size > 0) log.warn({ event: 'mongodb.jobs_given_up', jobs: running.size });
    for (const [work, giveUpJob] of running) {
      runningWork.add(work);
      giveUpJob(new DeadlineError(config.LEASE_MS));
    }
    running.clear();
  }

  client.on('topologyDescriptionChanged', onChange);
  return {
    /** For the processor of a delivery queue: if the job is given up, it ends for BullMQ, and its work still runs. */
    givingUp: (process) => async (job, token, signal) => {
      // After a pause, BullMQ may still take one more job.
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
          runningWork.delete(work);
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
