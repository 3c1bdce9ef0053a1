import type { QueueName } from '../src/platform/queues.ts';
import { aggregateDayWork } from './aggregate-day.ts';
import { answerNowWork } from './answer-now.ts';
import { cleanUpWork } from './clean-up.ts';
import { countFiguresWork } from './count-figures.ts';
import { drawCardsWork } from './draw-cards.ts';
import { encodePicturesWork } from './encode-pictures.ts';
import { excludeVotesWork } from './exclude-votes.ts';
import { findUnusualVotesWork } from './find-unusual-votes.ts';
import { drainBacklogsWork, forwardVotesWork, testListenersWork } from './forward-votes.ts';
import { notifyOwnersWork } from './notify-owners.ts';
import { probeServersWork } from './probe-servers.ts';
import type { QueueWork } from './queue-work.ts';
import { recomputeRanksWork } from './recompute-ranks.ts';
import { repairCountersWork, repairTodayWork } from './repair-counters.ts';
import { sendDiscordWork, sendMailWork } from './send-mail.ts';
import { settleAccountsWork } from './settle-accounts.ts';

/** The work of each queue. */
export const WORKS: { [Name in QueueName]: QueueWork<Name> } = {
  'forward-votes': forwardVotesWork,
  'test-listeners': testListenersWork,
  'drain-backlogs': drainBacklogsWork,
  'probe-servers': probeServersWork,
  'clean-up': cleanUpWork,
  'aggregate-day': aggregateDayWork,
  'repair-counters': repairCountersWork,
  'repair-today': repairTodayWork,
  'recompute-ranks': recomputeRanksWork,
  'find-unusual-votes': findUnusualVotesWork,
  'count-figures': countFiguresWork,
  'send-mail': sendMailWork,
  'send-discord': sendDiscordWork,
  'tell-owners': notifyOwnersWork,
  'settle-accounts': settleAccountsWork,
  'exclude-votes': excludeVotesWork,
  'encode-pictures': encodePicturesWork,
  'draw-cards': drawCardsWork,
  'answer-now': answerNowWork,
};
