import { ObjectId } from 'mongodb';
import { finishAddressChanges } from '../src/accounts/address/change-address.ts';
import { forgetAttempts } from '../src/delivery/forget-attempts.ts';
import { aggregateDay } from '../src/history/aggregate-day.ts';
import { refreshDailyFigures } from '../src/history/daily-figures.ts';
import { dueAggregates, markAggregated } from '../src/history/due-aggregates.ts';
import { dueMails, sendMail } from '../src/mail/send-mail.ts';
import { createSmtpSender } from '../src/mail/smtp.ts';
import { findUnusualVotes } from '../src/moderation/unusual-votes.ts';
import { notifyOwners } from '../src/notifications/notify-owners.ts';
import { dueDays, markDone } from '../src/platform/periods/period-marks.ts';
import type { QueueName } from '../src/platform/queues.ts';
import { runSteps } from '../src/platform/run-steps.ts';
import { createWaitingWork, type WaitingWork } from '../src/process/waiting-work.ts';
import { recomputeRanks } from '../src/ranking/recompute-ranks.ts';
import type { ReminderEnd } from '../src/reminders/reminder.ts';
import { sendMailReminders } from '../src/reminders/send-mail-reminders.ts';
import { createReminders } from '../src/reminders/send-reminders.ts';
import { repairReviewLists } from '../src/reviews/review-list.ts';
import { encodeUpload } from '../src/servers/encode-upload.ts';
import { dueUploads } from '../src/servers/picture-uploads.ts';
import { sweepPictures } from '../src/servers/pictures.ts';
import { unfinishedExclusions } from '../src/votes/exclusions/request-exclusion.ts';
import { RANKS_EVERY_MINUTES } from '../src/votes/ranking-period.ts';
import { dueRepairs, type Repair, repairCounters, repairOpenCounters } from '../src/votes/repair-counters.ts';
import { carryOutExclusion } from '../src/workflows/carry-out-exclusion.ts';
import { deleteDueAccounts } from '../src/workflows/delete-account.ts';
import { countFigures, type Waiting } from '../src/workflows/figures/count-figures.ts';
import { duePauses, resumeDueListing } from '../src/workflows/pause-listing.ts';
import { forgetAddresses } from '../src/workflows/retention/forget-addresses.ts';
import { forgetNames } from '../src/workflows/retention/forget-names.ts';
import { answerNowWork } from './answer-now.ts';
import { drawCardsWork } from './draw-cards.ts';
import { drainBacklogsWork, forwardVotesWork, testListenersWork } from './forward-votes.ts';
import { probeServersWork } from './probe-servers.ts';
import type { QueueWork, RunningJob, WorkContext } from './queue-work.ts';
import { sendEventsWork } from './send-events.ts';
import { updateLiveMessagesWork } from './update-live-messages.ts';
import { watchVotesWork } from './watch-votes.ts';

/** With one, a slow delivery would delay all others; with many, they would overload a mail server. */
const MAILS_AT_ONCE = 4;

/**
 * The work of each queue. If a run is interrupted or fails, the next one does what remains: the scheduler finds due work
 * in MongoDB, also that whose job was lost.
 */
export const WORKS: { [Name in QueueName]: QueueWork<Name> } = {
  'forward-votes': forwardVotesWork,
  'test-listeners': testListenersWork,
  'drain-backlogs': drainBacklogsWork,
  'probe-servers': probeServersWork,
  'clean-up': {
    period: {
      every: '10 minutes',
      due: async (deps) => (await dueDays(deps, 'clean-up')).map((day) => ({ day })),
    },
    processor:
      ({ deps, stop: signal }) =>
      async ({ day }) => {
        const steps = {
          forgotten: () => forgetAttempts(deps, day),
          pictures: () => sweepPictures(deps),
          addresses: () => forgetAddresses(deps, day, { signal }),
          names: () => forgetNames(deps, day, { signal }),
        };
        const result = await runSteps(deps, 'clean-up', steps, signal);
        await markDone(deps, 'clean-up', day);
        deps.log.info({ event: 'clean_up.done', day, ...result });
        return result;
      },
  },
  'aggregate-day': {
    period: { every: '10 minutes', due: async (deps) => (await dueAggregates(deps)).map((day) => ({ day })) },
    processor:
      ({ deps, stop }) =>
      async ({ day }, job) => {
        const begunAt = deps.clock.now();
        let shown = 0;
        const progress = (done: number, total: number) => {
          const percent = Math.floor((100 * done) / Math.max(total, 1));
          if (percent === shown) return;
          shown = percent;
          job.showProgress(percent);
        };
        const { servers } = await aggregateDay(deps, day, { progress, signal: stop });
        await refreshDailyFigures(deps, { signal: stop });
        await markAggregated(deps, day, begunAt);
        const durationMs = deps.clock.now().getTime() - begunAt.getTime();
        deps.log.info({ event: 'aggregate_day.done', day, servers, durationMs });
        return { servers };
      },
  },
  'repair-counters': {
    period: { every: '10 minutes', due: async (deps) => (await dueRepairs(deps)).map((day) => ({ day })) },
    processor:
      ({ deps, metrics, stop }) =>
      async ({ day }, job) => {
        const repair = await repairCounters(deps, day, optionsOf(job, stop));
        const reviews = await repairReviewLists(deps, day, { signal: stop });
        await markDone(deps, 'repair-counters', day);
        const { servers, wrong } = countDrifts(repair, metrics);
        deps.log.info({ event: 'counters.repaired', day, servers, wrong, reviews });
        return { servers, wrong };
      },
  },
  'repair-today': {
    period: { every: 'minute' },
    processor:
      ({ deps, metrics, stop }) =>
      async (_payload, job) => {
        const result = countDrifts(await repairOpenCounters(deps, optionsOf(job, stop)), metrics);
        deps.log.debug({ event: 'counters.compared', ...result });
        return result;
      },
  },
  'recompute-ranks': {
    period: { every: `${RANKS_EVERY_MINUTES} minutes` },
    processor:
      ({ deps, stop }) =>
      async () => {
        const ranked = await recomputeRanks(deps, { signal: stop });
        deps.log.info({ event: 'ranks.computed', ...ranked });
        return ranked;
      },
  },
  'find-unusual-votes': {
    period: { every: '10 minutes' },
    processor:
      ({ deps, stop }) =>
      async () => {
        const result = await findUnusualVotes(deps, { signal: stop });
        deps.log.info({ event: 'votes.unusual', ...result });
        return result;
      },
  },
  'count-figures': {
    period: { every: 'hour, at minute 7' },
    processor({ deps, stop }) {
      const waitingWork = createWaitingWork(deps);
      return async () => {
        const begun = performance.now();
        const days = await countFigures(deps, async () => waitingOf(await waitingWork()), { signal: stop });
        const result = { days: days.length, durationMs: Math.round(performance.now() - begun) };
        deps.log.info({ event: 'figures.counted', ...result });
        return result;
      };
    },
  },
  'send-mail': {
    concurrency: MAILS_AT_ONCE,
    period: {
      every: 'minute',
      due: async (deps) =>
        deps.config.SMTP_URL === undefined ? [] : (await dueMails(deps)).map((mailId) => ({ mailId })),
    },
    processor({ deps, waitNoLonger }) {
      const send = createSmtpSender(deps.config);
      return async ({ mailId }) => {
        // If the mail server was removed from the settings, the mail stays due until a mail server is set again.
        if (deps.config.SMTP_URL === undefined) return { end: 'no-mail-server' };
        return { end: await sendMail({ ...deps, send }, mailId, waitNoLonger) };
      };
    },
  },
  'tell-owners': {
    period: { every: 'minute' },
    processor:
      ({ deps, stop }) =>
      async () => {
        const written = await notifyOwners(deps, stop);
        if (written > 0) deps.log.info({ event: 'notifications.written', written });
        return { written };
      },
  },
  'watch-votes': watchVotesWork,
  'send-reminders': {
    period: { every: 'minute' },
    processor({ deps, metrics, stop: signal }) {
      const sendReminders = createReminders(deps);
      return async () => {
        const counted = (send: () => Promise<ReminderEnd[]>) => async () => {
          const ends = await send();
          for (const end of ends) metrics.count('tallyport_reminders_total', { end });
          return ends.filter((end) => end === 'sent').length;
        };
        const steps = {
          mailed: counted(() => sendMailReminders(deps, signal)),
          pushed: counted(() => sendReminders({ signal })),
        };
        return runSteps(deps, 'send-reminders', steps, signal);
      };
    },
  },
  'send-events': sendEventsWork,
  'update-live-messages': updateLiveMessagesWork,
  'settle-accounts': {
    period: { every: '10 minutes' },
    processor:
      ({ deps, stop }) =>
      async () => {
        const steps = {
          changed: () => finishAddressChanges(deps, stop),
          deleted: () => deleteDueAccounts(deps, { signal: stop }),
        };
        const { changed, deleted } = await runSteps(deps, 'settle-accounts', steps, stop);
        if (changed + deleted > 0) deps.log.info({ event: 'accounts.settled', changed, deleted });
        return { changed, deleted };
      },
  },
  'resume-listings': {
    period: {
      every: 'minute',
      due: async (deps) => (await duePauses(deps)).map((serverId) => ({ serverId: serverId.toHexString() })),
    },
    processor:
      ({ deps }) =>
      async ({ serverId }) => {
        const resumed = await resumeDueListing(deps, new ObjectId(serverId));
        if (resumed) deps.log.info({ event: 'listing.resumed', serverId });
        return { resumed };
      },
  },
  'exclude-votes': {
    // A job for an exclusion that another one is still finishing waits for it and then has nothing to do.
    period: {
      every: '10 minutes',
      due: async (deps) =>
        (await unfinishedExclusions(deps)).map((exclusionId) => ({ exclusionId: exclusionId.toHexString() })),
    },
    processor:
      ({ deps, stop }) =>
      async ({ exclusionId }, job) => {
        await carryOutExclusion(deps, new ObjectId(exclusionId), optionsOf(job, stop));
        deps.log.info({ event: 'exclusion.finished', exclusionId });
      },
  },
  'encode-pictures': {
    period: {
      every: 'minute',
      due: async (deps) => (await dueUploads(deps)).map((uploadId) => ({ uploadId })),
    },
    processor:
      ({ deps, pictureProcess }) =>
      async ({ uploadId }) => ({ end: await encodeUpload({ ...deps, pictureProcess }, uploadId) }),
  },
  'draw-cards': drawCardsWork,
  'answer-now': answerNowWork,
};

function optionsOf(job: RunningJob, signal: AbortSignal) {
  return { signal, progress: (done: number, total: number) => job.showProgress({ done, total }) };
}

function countDrifts({ servers, drifts }: Repair, metrics: WorkContext['metrics']) {
  for (const { counted, votes } of drifts)
    metrics.count('tallyport_counter_drift_votes_total', {}, Math.abs(counted - votes));
  return { servers, wrong: drifts.length };
}

/** The waiting votes of all listeners by age, and the age of each queue's oldest work in seconds. */
function waitingOf({ waitingVotes, queues }: WaitingWork): Waiting {
  const votes: Record<string, number> = {};
  for (const ages of Object.values(waitingVotes)) {
    for (const [age, count] of Object.entries(ages)) votes[age] = (votes[age] ?? 0) + count;
  }
  const ages = Object.entries(queues).map(([name, { oldestSeconds }]) => [name, Math.round(oldestSeconds)]);
  return { votes, queues: Object.fromEntries(ages) };
}
