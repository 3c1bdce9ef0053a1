import { t } from '../../language/t.ts';
import { dayOf } from '../../platform/periods/period-marks.ts';
import type { EventsDeps } from '../deps.ts';
import { mailOwner } from '../mail-owner.ts';
import { type LiveMessage, STOP_TEXTS, type StopReason } from './live-message.ts';

/** For one stop once, and once a day for a server, however often its owner sets it anew. */
export async function mailStopped(
  deps: EventsDeps,
  { serverId }: LiveMessage,
  reason: StopReason,
): Promise<void> {
  const { why, advice } = STOP_TEXTS[reason];
  const id = `live-stopped:${serverId.toHexString()}:${dayOf(deps.clock.now())}`;
  await mailOwner(deps, serverId, id, (name) => ({
    subject: t('the live status in Discord stopped'),
    paragraphs: [
      `${t(why)} ${t('So the message in Discord with the live status of {name} is not updated any more.', { name })}`,
      `${t(advice)} ${t('The settings are here:')}`,
    ],
    part: '/events#live',
  }));
}
