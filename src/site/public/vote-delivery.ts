import type { DeliveryStatus } from '../../delivery/timeline/timeline-event.ts';
import { defineMessage, type Text, t } from '../../language/t.ts';
import { MINUTE, SECOND } from '../../platform/clock.ts';
import { arrivalOf } from '../../votes/arrival.ts';
import type { Vote } from '../../votes/vote.ts';
import { count, decimal, duration, relative } from '../shared/format.ts';
import type { IconName } from '../shared/icon.ts';

/** The vote waits, is being sent, or is held until an operator decides. */
export function isOpen(status: DeliveryStatus): boolean {
  if (status.state === 'none') return status.why === 'quarantined';
  return status.state === 'waiting' || status.state === 'sending';
}

export function deliveryIcon(status: DeliveryStatus): IconName {
  if (status.state === 'delivered') return 'zap';
  if (isOpen(status)) return 'clock';
  return status.state === 'none' ? 'info' : 'triangle-alert';
}

/** Without details of the listener. `isCollected`: plugins claim the server's votes. For the owner: `statusText`. */
export function playerText(
  status: DeliveryStatus,
  vote: Pick<Vote, 'votedAt' | 'claim' | 'excludedAt' | 'delivery'>,
  now: Date,
  isCollected = false,
): string {
  const arrival = arrivalOf(vote.delivery);
  if (arrival === 'arrived' && status.state !== 'delivered' && !isOpen(status))
    return t('Your vote arrived at the game server.');
  if (arrival === 'may-have-arrived' && (status.state === 'none' || status.state === 'failed'))
    return t('Your vote may have reached the game server. The owner of the server can send it again.');
  switch (status.state) {
    case 'none':
      if (status.why === 'quarantined') return t(NONE.quarantined);
      if (vote.claim) return t('A plugin of the server has claimed your vote for the reward.');
      if (isCollected) return t('Counted. The server collects its votes itself.');
      return t(NONE[vote.excludedAt ? 'excluded' : status.why]);
    case 'waiting':
      return waitingText(status, now);
    case 'sending':
      return status.fetched
        ? t('The game server has fetched your vote.')
        : t('Your vote is being sent to the game server.');
    case 'delivered':
      return deliveredText(status, vote);
    case 'unconfirmed':
      return t(UNCONFIRMED[status.why]);
    case 'failed':
      return t(
        'Your vote counts here, but the game server did not take it. The owner of the server can send it again.',
      );
  }
}

type Of<State extends DeliveryStatus['state']> = Extract<DeliveryStatus, { state: State }>;

function waitingText({ waitingFor, reason, fetched }: Of<'waiting'>, now: Date): string {
  if (fetched) return t('Your vote waits until the game server fetches it.');
  const next =
    'at' in waitingFor ? ` ${t('The next try is {time}.', { time: relative(waitingFor.at, now) })}` : '';
  const sentence = reason
    ? t('The game server does not take votes now. Your vote is kept and sent when it does.')
    : t('Your vote is on its way to the game server.');
  return `${sentence}${next}`;
}

function deliveredText({ at, confirmed, fetched }: Of<'delivered'>, { votedAt }: Pick<Vote, 'votedAt'>) {
  if (confirmed === false) return t('Your vote was sent. This game server does not confirm votes.');
  if (!at) return t('Your vote arrived at the game server.');
  const time = timeTaken(at.getTime() - votedAt.getTime());
  return fetched
    ? t('Your vote was fetched by the game server and arrived in {time}.', { time })
    : t('Arrived in {time}.', { time });
}

/** `0.3 s`, `12 s`, `3 minutes`. If clocks differ, `ms` may be negative: `0.1 s` is shown. */
function timeTaken(ms: number): string {
  if (ms >= MINUTE) return duration(ms);
  const seconds = ms / SECOND;
  return `${seconds < 10 ? decimal(Math.max(0.1, Math.round(10 * seconds) / 10)) : count(Math.round(seconds))} s`;
}

const UNCONFIRMED: Record<Of<'unconfirmed'>['why'], Text> = {
  restored: defineMessage(
    'This listing was restored from a backup. Your vote may have reached the game server before that. The owner of the server can send it again.',
  ),
  'server-error': defineMessage(
    'Your vote was sent, but the server’s website answered with an error. The owner of the server can send it again.',
  ),
  'no-answer': defineMessage(
    'Your vote was sent, but the game server did not answer. The owner of the server can send it again.',
  ),
};

const NONE: Record<Of<'none'>['why'], Text> = {
  imported: defineMessage('This vote was cast on another listing.'),
  quarantined: defineMessage('Your vote waits for a decision of an operator.'),
  excluded: defineMessage('Your vote is not sent to the game server.'),
  'no-listener': defineMessage(
    'This listing sends no votes to this server. Its plugin may ask the listing for your vote.',
  ),
  'listener-removed': defineMessage('The owner has switched off sending votes to the game server.'),
};
