import { t } from '../language/t.ts';
import { DAY } from '../platform/clock.ts';
import { dayOf } from '../platform/periods/period-marks.ts';
import type { EventsDeps } from './deps.ts';
import { OFF_ADVICE, OFF_REASONS, OFF_TEXTS } from './discord/off-reasons.ts';
import { EVENT_TTL_MS } from './event.ts';
import { mailOwner } from './mail-owner.ts';
import type { Subscription, SubscriptionPause } from './subscription.ts';

/**
 * Before the pause is stored: if the process dies between both, the next pass repeats them, and the id prevents a second
 * mail. One of a subscription and day at most, however often it is resumed or changed.
 */
export async function mailPaused(
  deps: EventsDeps,
  { _id, serverId, name }: Subscription,
  { at, by, reason = '' }: Pick<SubscriptionPause, 'at' | 'by' | 'reason'>,
): Promise<void> {
  const id = `subscription-paused:${_id.toHexString()}:${by}:${dayOf(at)}`;
  await mailOwner(deps, serverId, id, (server) => ({
    subject: t('events to “{name}” are paused', { name }),
    paragraphs: [
      by === 'gone'
        ? `${goneText(reason)} ${t('So no more events of {server} are sent to “{name}”.', { server, name })}`
        : t(
            '“{name}” has taken no event of {server} for a day (the last answer: {reason}). Nothing more is sent until you resume it; what happens meanwhile waits, at most for {days} days.',
            { name, server, reason, days: EVENT_TTL_MS / DAY },
          ),
      adviceFor(reason),
    ],
    part: '/events',
  }));
}

function goneText(reason: string): string {
  const off = OFF_REASONS.find((one) => one === reason);
  return off ? t(OFF_TEXTS[off]) : t('The website wants no more events ({reason}).', { reason });
}

function adviceFor(reason: string): string {
  const off = OFF_REASONS.find((one) => one === reason);
  const advice = off ? t(OFF_ADVICE[off]) : t('Look at its last attempts, and send a test event.');
  return `${advice} ${t('The page of the subscriptions:')}`;
}
