import { dueAggregates } from '../src/history/due-aggregates.ts';
import { dueMails } from '../src/mail/send-mail.ts';
import { dueDays } from '../src/platform/periods/period-marks.ts';
import type { Platform } from '../src/process/platform.ts';
import { requestRanks } from '../src/servers/request-ranks.ts';
import { openExclusions } from '../src/votes/exclude-votes.ts';
import { dueRepairs } from '../src/votes/repair-counters.ts';

/** Work that comes round: the scheduler only enqueues it, a worker does it. */
export type PeriodicWork = {
  /** In log lines. */
  name: string;
  /** In UTC. Every one is also tried at the start, so that what was missed is done at once. */
  cron: string;
  /**
   * Looks in MongoDB for what is due and enqueues it. Two schedulers, or one that was restarted, may do it twice.
   *
   * @returns whether Redis took all of it; it is tried again a second later otherwise
   */
  enqueue(platform: Platform): Promise<boolean>;
};

const EVERY_TEN_MINUTES = '*/10 * * * *';
const EVERY_MINUTE = '* * * * *';

/** All of it. The probes of due servers are claimed every second instead (claim-probes.ts). */
export const PERIODIC_WORK: PeriodicWork[] = [
  daily('clean-up', (platform) => dueDays(platform, 'clean-up')),
  daily('aggregate-day', dueAggregates),
  daily('repair-counters', dueRepairs),
  {
    name: 'repair-today',
    cron: EVERY_MINUTE,
    // It begins where the last one that ended well did.
    enqueue: ({ producer }) => producer.add('repair-today', {}),
  },
  {
    name: 'recompute-ranks',
    cron: EVERY_TEN_MINUTES,
    // Whatever was missed: it goes by what stands in MongoDB now.
    enqueue: ({ producer }) => requestRanks(producer),
  },
  {
    name: 'find-unusual-votes',
    cron: EVERY_TEN_MINUTES,
    enqueue: ({ producer }) => producer.add('find-unusual-votes', {}),
  },
  { name: 'exclude-votes', cron: EVERY_TEN_MINUTES, enqueue: enqueueExclusions },
  { name: 'send-mail', cron: EVERY_MINUTE, enqueue: enqueueMails },
  { name: 'tell-owners', cron: EVERY_MINUTE, enqueue: enqueueNotifications },
];

/** Work of which each UTC day has its own job; the marks in MongoDB say which days are due. */
function daily(
  name: 'clean-up' | 'aggregate-day' | 'repair-counters',
  dueDaysOf: (platform: Platform) => Promise<string[]>,
): PeriodicWork {
  return {
    name,
    cron: EVERY_TEN_MINUTES,
    async enqueue(platform) {
      const days = await dueDaysOf(platform);
      const jobs = days.map((day) => ({ payload: { day }, subject: day }));
      if ((await platform.producer.addAll(name, jobs)) < jobs.length) return false;
      if (days.length > 0) platform.log.info({ event: 'schedule.enqueued', work: name, days });
      return true;
    },
  };
}

/** Exclusions of votes that were cut short. One that is under way keeps its job waiting, and is through then. */
async function enqueueExclusions({ producer, ...platform }: Platform): Promise<boolean> {
  const open = await openExclusions(platform);
  const jobs = open.map((exclusionId) => ({ payload: { exclusionId: exclusionId.toHexString() } }));
  return (await producer.addAll('exclude-votes', jobs)) === jobs.length;
}

/** Mails whose job was lost, or whose next attempt is due. */
async function enqueueMails(platform: Platform): Promise<boolean> {
  if (platform.config.SMTP_URL === undefined) return true;
  const jobs = (await dueMails(platform)).map((mailId) => ({ payload: { mailId } }));
  return (await platform.producer.addAll('send-mail', jobs)) === jobs.length;
}

/** It goes by how listeners stand now, and by what their owners were told already. */
async function enqueueNotifications({ config, producer }: Platform): Promise<boolean> {
  return config.SMTP_URL === undefined || (await producer.add('tell-owners', {}));
}
