import { dueAggregates } from '../src/history/due-aggregates.ts';
import { dueMails, dueMessages } from '../src/mail/send-mail.ts';
import { dueDays } from '../src/platform/periods/period-marks.ts';
import type { AppDeps } from '../src/process/app-deps.ts';
import { dueUploads } from '../src/servers/picture-uploads.ts';
import { dueCards, trimCards } from '../src/servers/preview-cards.ts';
import { requestRanks } from '../src/servers/request-ranks.ts';
import { unfinishedExclusions } from '../src/votes/exclusions/request-exclusion.ts';
import { dueRepairs } from '../src/votes/repair-counters.ts';

/** A kind of periodic work: the scheduler adds its jobs, and a worker runs them. */
export type PeriodicWork = {
  /** The name of the work in log lines. */
  name: string;
  /** When it runs, in UTC. It also runs when the scheduler starts, so that missed work is done at once. */
  cron: string;
  /**
   * Finds due work in MongoDB and adds jobs for it. Two schedulers, or a restarted one, may add the same job twice.
   *
   * @returns whether Redis accepted all jobs; if not, the scheduler calls it again after a second
   */
  enqueue(deps: AppDeps): Promise<boolean>;
};

const EVERY_TEN_MINUTES = '*/10 * * * *';
/** Seven minutes past each full hour. At the full hour, other programs of the machine begin their work too. */
const EVERY_HOUR = '7 * * * *';
const EVERY_MINUTE = '* * * * *';

/** All periodic work except the probes of due servers, which are taken every second (take-probes.ts). */
export const PERIODIC_WORK: PeriodicWork[] = [
  daily('clean-up', (deps) => dueDays(deps, 'clean-up')),
  daily('aggregate-day', dueAggregates),
  daily('repair-counters', dueRepairs),
  {
    name: 'repair-today',
    cron: EVERY_MINUTE,
    // A run continues where the last successful run ended.
    enqueue: ({ producer }) => producer.add('repair-today', {}),
  },
  {
    name: 'recompute-ranks',
    cron: EVERY_TEN_MINUTES,
    // If runs were missed, one run is enough, because it uses the current data in MongoDB.
    enqueue: ({ producer }) => requestRanks(producer),
  },
  {
    name: 'find-unusual-votes',
    cron: EVERY_TEN_MINUTES,
    enqueue: ({ producer }) => producer.add('find-unusual-votes', {}),
  },
  {
    name: 'count-figures',
    cron: EVERY_HOUR,
    // A run also counts the days that earlier runs missed.
    enqueue: ({ producer }) => producer.add('count-figures', {}),
  },
  {
    name: 'settle-accounts',
    cron: EVERY_TEN_MINUTES,
    enqueue: ({ producer }) => producer.add('settle-accounts', {}),
  },
  { name: 'exclude-votes', cron: EVERY_TEN_MINUTES, enqueue: enqueueExclusions },
  { name: 'send-mail', cron: EVERY_MINUTE, enqueue: enqueueMails },
  { name: 'send-discord', cron: EVERY_MINUTE, enqueue: enqueueDiscordMessages },
  { name: 'tell-owners', cron: EVERY_MINUTE, enqueue: enqueueNotifications },
  { name: 'encode-pictures', cron: EVERY_MINUTE, enqueue: enqueueUploads },
  { name: 'draw-cards', cron: EVERY_MINUTE, enqueue: enqueueCards },
];

/** Work with one job for each UTC day. Marks in MongoDB show which days are due. */
function daily(
  name: 'clean-up' | 'aggregate-day' | 'repair-counters',
  dueDaysOf: (deps: AppDeps) => Promise<string[]>,
): PeriodicWork {
  return {
    name,
    cron: EVERY_TEN_MINUTES,
    async enqueue(deps) {
      const days = await dueDaysOf(deps);
      const jobs = days.map((day) => ({ payload: { day }, subject: day }));
      if ((await deps.producer.addAll(name, jobs)) < jobs.length) return false;
      if (days.length > 0) deps.log.info({ event: 'schedule.enqueued', work: name, days });
      return true;
    },
  };
}

/**
 * Adds jobs for unfinished exclusions of votes. If an exclusion is still running, the job waits for it and then has
 * nothing to do.
 */
async function enqueueExclusions({ producer, ...deps }: AppDeps): Promise<boolean> {
  const open = await unfinishedExclusions(deps);
  const jobs = open.map((exclusionId) => ({ payload: { exclusionId: exclusionId.toHexString() } }));
  return (await producer.addAll('exclude-votes', jobs)) === jobs.length;
}

/** Adds jobs for mails whose job was lost or whose next attempt is due. */
async function enqueueMails(deps: AppDeps): Promise<boolean> {
  if (deps.config.SMTP_URL === undefined) return true;
  const jobs = (await dueMails(deps)).map((mailId) => ({ payload: { mailId } }));
  return (await deps.producer.addAll('send-mail', jobs)) === jobs.length;
}

/** Adds jobs for Discord messages whose job was lost or whose next attempt is due. */
async function enqueueDiscordMessages({ discordMessages, clock, producer }: AppDeps): Promise<boolean> {
  const due = await dueMessages(discordMessages, clock);
  const jobs = due.map((messageId) => ({ payload: { messageId } }));
  return (await producer.addAll('send-discord', jobs)) === jobs.length;
}

/** Adds the job that writes notifications. The job finds those that are due and were not written yet. */
function enqueueNotifications({ producer }: AppDeps): Promise<boolean> {
  return producer.add('tell-owners', {});
}

/** Adds jobs for uploaded pictures whose job was lost or whose next attempt is due. */
async function enqueueUploads(deps: AppDeps): Promise<boolean> {
  const jobs = (await dueUploads(deps)).map((uploadId) => ({ payload: { uploadId } }));
  return (await deps.producer.addAll('encode-pictures', jobs)) === jobs.length;
}

/** Deletes surplus previews of links, and adds jobs for those whose job was lost or whose next attempt is due. */
async function enqueueCards(deps: AppDeps): Promise<boolean> {
  await trimCards(deps);
  const jobs = (await dueCards(deps)).map((serverId) => ({
    payload: { serverId: serverId.toHexString() },
  }));
  return (await deps.producer.addAll('draw-cards', jobs)) === jobs.length;
}
