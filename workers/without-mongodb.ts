import type { Processor } from 'bullmq';
import mongoose from 'mongoose';
import { DeadlineError } from '../src/platform/deadline.ts';
import type { Platform } from '../src/process/platform.ts';

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
 * While this process cannot reach MongoDB it takes no jobs: other processes may reach it. After the time of a lease it
 * gives up its running jobs of delivery: their leases have expired, and while such a job is active BullMQ starts no other
 * one for its listener. The work goes on without its job, and records its outcomes when MongoDB is back (ADR 107).
 *
 * @param underWay - gets the work that goes on
 */
export function withoutMongodb(
  { mongo, config, log }: Pick<Platform, 'mongo' | 'config' | 'log'>,
  workers: Workers,
  underWay: Set<Promise<unknown>>,
): MongodbWatch {
  const { connection } = mongo;
  const giveUps = new Set<(error: Error) => void>();
  let timer: NodeJS.Timeout | undefined;

  const isAway = () => connection.readyState !== mongoose.ConnectionStates.connected;

  function onAway(): void {
    log.warn({ event: 'mongodb.away' }, 'this process takes no jobs until it reaches MongoDB again');
    workers.pause();
    clearTimeout(timer);
    timer = setTimeout(() => {
      if (giveUps.size > 0) log.warn({ event: 'mongodb.jobs_given_up', jobs: giveUps.size });
      for (const giveUp of giveUps) giveUp(new DeadlineError(config.LEASE_MS));
    }, config.LEASE_MS);
  }

  function onBack(): void {
    log.info({ event: 'mongodb.back' });
    clearTimeout(timer);
    workers.resume();
  }

  connection.on('disconnected', onAway);
  connection.on('connected', onBack);
  return {
    isAway,
    givingUp: (process) => async (job, token, signal) => {
      // BullMQ may take one more job after a pause.
      if (isAway()) {
        const noted = { queue: job.queueName, jobId: job.id, payload: job.data };
        log.warn({ event: 'job.postponed', ...noted, reason: 'MongoDB is away' });
        return { postponed: true };
      }
      const { promise, resolve, reject } = Promise.withResolvers<unknown>();
      const ended = () => {
        giveUps.delete(reject);
        underWay.delete(work);
      };
      const work = process(job, token, signal).then(resolve, reject).finally(ended);
      giveUps.add(reject);
      underWay.add(work);
      return promise;
    },
    close() {
      clearTimeout(timer);
      connection.off('disconnected', onAway);
      connection.off('connected', onBack);
    },
  };
}
