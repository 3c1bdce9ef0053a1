import { t } from '../../language/t.ts';
import type { EventsDeps } from '../deps.ts';
import { mailOwner } from '../mail-owner.ts';
import { type LiveMessage, STOP_TEXTS, type StopReason } from './live-message.ts';

/** Once. */
export async function mailStopped(
  deps: EventsDeps,
  { _id, serverId, setAt }: LiveMessage,
  reason: StopReason,
): Promise<void> {
  const { why, advice } = STOP_TEXTS[reason];
  await mailOwner(deps, serverId, (name) => ({
    id: `live-stopped:${_id.toHexString()}:${setAt.getTime()}`,
    subject: 'the live status in Discord stopped',
    paragraphs: [
      `${t(why)} So the message in Discord with the live status of ${name} is not updated any more.`,
      `${t(advice)} The settings are here:`,
    ],
    part: '/events#live',
  }));
}
