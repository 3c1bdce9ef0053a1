import { ObjectId } from 'mongodb';
import { type LoggedAttempt, logAttempts } from '../../src/events/attempt-log.ts';
import { addSubscription } from '../../src/events/subscriptions.ts';
import { after, MINUTE } from '../../src/platform/clock.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';

/** Destinations in different states, attempts and a live status that stopped. Nothing is sent. */
export async function addSampleEvents(deps: AppDeps, serverId: ObjectId, by: string): Promise<ObjectId> {
  const add = async (settings: Parameters<typeof addSubscription>[2]) =>
    (await addSubscription(deps, serverId, settings, by)).subscription;
  const webhook = `https://discord.com/api/webhooks/1099999999999991234/${'a'.repeat(68)}`;
  const bot = await add({
    type: 'http',
    name: 'Raid bot',
    url: 'https://bot.example.org/events',
    kinds: ['rank.changed'],
  });
  const channel = await add({
    type: 'discord',
    name: '#news of Harbour Lights',
    webhook,
    kinds: ['rank.changed'],
  });
  const now = deps.clock.now();
  const reason = 'http-unavailable: HTTP 503 Service Unavailable';
  const failing = { failures: 3, failingSince: after(now, -90 * MINUTE), lastReason: reason };
  const dropped = { count: 1_200, at: after(now, -20 * MINUTE) };
  await deps.subscriptions.updateOne({ _id: bot._id }, { $set: { ...failing, dropped } });
  const pause = { at: after(now, -40 * MINUTE), by: 'gone', reason: 'deleted' } as const;
  await deps.subscriptions.updateOne({ _id: channel._id }, { $set: { pause } });
  await logAttempts(deps, bot, attemptsUntil(now, reason));
  await deps.liveMessages.insertOne({
    _id: new ObjectId(),
    serverId,
    isCurrent: true,
    sealed: 'unused',
    ending: '1234',
    setAt: after(now, -90 * MINUTE),
    posts: 0,
    runs: 1,
    failures: 0,
    stopped: { at: after(now, -30 * MINUTE), reason: 'needs-thread' },
  });
  return bot._id;
}

function attemptsUntil(now: Date, reason: string): LoggedAttempt[] {
  const ends = ['sent', 'retry', 'given-up', 'refused'] as const;
  return Array.from({ length: 40 }, (_, index) => {
    const end = ends[index % ends.length] ?? 'sent';
    const failed = end === 'sent' ? { status: 204 } : { status: 503, reason };
    const eventId = `evt_${String(index).padStart(32, 'x')}`;
    return {
      at: after(now, (index - 40) * MINUTE),
      eventId,
      type: 'rank.changed',
      end,
      durationMs: 84 + index,
      ...failed,
    };
  });
}
