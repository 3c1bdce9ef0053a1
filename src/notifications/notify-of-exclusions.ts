import { after, DAY } from '../platform/clock.ts';
import type { VoteExclusion } from '../votes/exclusions/vote-exclusion.ts';
import { audienceOf } from './audience.ts';
import type { NotificationsDeps } from './deps.ts';
import { eventOf, type NotificationText, notificationTime, votes } from './notification-text.ts';
import { forServer, notify } from './notify.ts';

/** Older decisions cause no notification. */
const NEWLY_MS = 2 * DAY;

/** Owners are not notified of a quarantine that is lifted: they were not notified of its beginning either. */
export async function notifyOfExclusions(deps: NotificationsDeps, stop: AbortSignal): Promise<number> {
  const at = { $gt: after(deps.clock.now(), -NEWLY_MS) };
  const excluded = {
    at,
    state: 'excluded',
    votes: { $gt: 0 },
    told: { $exists: false },
    // Votes of a blocked name are excluded as they are cast.
    blockId: { $exists: false },
  } as const;
  let written = 0;
  for (const due of [excluded, { told: 'excluded', state: 'included' } as const]) {
    for await (const exclusion of deps.voteExclusions.find(due)) {
      if (stop.aborted) return written;
      written += await forServer(deps, exclusion.serverId, () => notifyOfExclusion(deps, exclusion));
    }
  }
  return written;
}

async function notifyOfExclusion(deps: NotificationsDeps, exclusion: VoteExclusion): Promise<number> {
  const { _id, serverId, state } = exclusion;
  const event = state === 'excluded' ? 'excluded' : 'included';
  const audience = await audienceOf(deps, serverId);
  const result = audience && (await notify(deps, audience, 'exclusion', exclusionText(exclusion, event)));
  await deps.voteExclusions.updateOne({ _id }, { $set: { told: event } });
  return result === 'written' ? 1 : 0;
}

function exclusionText(exclusion: VoteExclusion, event: 'excluded' | 'included'): NotificationText {
  const { _id, since, until, username, reasonForOwner } = exclusion;
  const number = exclusion.votes ?? 0;
  const whose = username ? ` of the player “${username}”` : '';
  // If all votes of a player are excluded, the range begins in 1970.
  const when =
    since.getTime() === 0
      ? `before ${notificationTime(until)}`
      : `from ${notificationTime(since)} to ${notificationTime(until)}`;
  const range = `${votes(number)}${whose} that ${number === 1 ? 'was' : 'were'} cast ${when}`;
  const isExcluded = event === 'excluded';
  return {
    ...eventOf(event, _id.toHexString()),
    subject: isExcluded ? `${votes(number)} excluded` : `${votes(number)} counted again`,
    paragraphs: [
      isExcluded
        ? `An operator of this listing excluded ${range}. They no longer count for the rank and the statistics. If you think that this is wrong, write to the operator.`
        : `An operator of this listing counts ${range} again.`,
      ...(isExcluded && reasonForOwner ? [`The operator’s reason: “${reasonForOwner}”`] : []),
      'The votes:',
    ],
    part: '/votes',
  };
}
