import { randomUUID } from 'node:crypto';
import { TEST_USERNAME } from '../delivery/vote-message.ts';
import { after, DAY, HOUR } from '../platform/clock.ts';
import { UnsealError } from '../platform/secrets.ts';
import { logAttempts } from './attempt-log.ts';
import type { EventsDeps } from './deps.ts';
import type { EventOutcome } from './destination.ts';
import type { EventKind } from './kinds.ts';
import { type ResolvedEvent, resolveEvents } from './resolve-events.ts';
import { DESTINATIONS } from './send-events.ts';
import type { Subscription } from './subscription.ts';
import { type SubscriptionOf, sendAllNow } from './subscriptions.ts';

/** As JSON and without secrets. `unreadable`: the stored secret cannot be opened. `stopped`: it was not tried. */
export type SubscriptionTest =
  | { kind: 'none' | 'unreadable' | 'stopped' }
  | ({ kind: 'tested'; isGone?: string; waitMs?: number } & Omit<EventOutcome, 'eventId'>);

/**
 * Sends one made-up event of the first kind that the subscription wants, even if it is paused; `data.test` is true. Only
 * a proof of the address is stored, and when it arrived. If it arrives, a subscription that waits after failures goes on at once.
 */
export async function testSubscription(
  deps: EventsDeps,
  { serverId, subscriptionId: _id }: SubscriptionOf,
  signal: AbortSignal,
): Promise<SubscriptionTest> {
  const subscription = await deps.subscriptions.findOne({ _id, serverId });
  const event = subscription && (await madeUpEvent(deps, subscription));
  if (!event) return { kind: 'none' };
  const how = { signal, mayStart: () => true, isTest: true };
  try {
    const { outcomes, proven, isGone, waitMs } = await DESTINATIONS[subscription.type](
      deps,
      subscription,
      [event],
      how,
    );
    const [outcome] = outcomes;
    if (!outcome) return { kind: 'stopped' };
    const { revision } = subscription;
    const learnt = {
      ...(proven ? { proven } : {}),
      ...(outcome.end === 'sent' ? { lastSentAt: deps.clock.now() } : {}),
    };
    if (Object.keys(learnt).length > 0)
      await deps.subscriptions.updateOne({ _id, revision }, { $set: learnt });
    const { eventId, ...seen } = outcome;
    await logAttempts(deps, subscription, [
      { at: deps.clock.now(), eventId, type: event.type, isTest: true, ...seen },
    ]);
    if (outcome.end === 'sent') await goOn(deps, subscription);
    return { kind: 'tested', ...seen, ...(isGone ? { isGone } : {}), ...(waitMs ? { waitMs } : {}) };
  } catch (error) {
    if (error instanceof UnsealError) return { kind: 'unreadable' };
    throw error;
  }
}

async function goOn(deps: EventsDeps, { _id, revision, notBefore, pause }: Subscription): Promise<void> {
  if (!notBefore || pause) return;
  await deps.subscriptions.updateOne({ _id, revision }, { $unset: { notBefore: '' } });
  await sendAllNow(deps, _id);
}

async function madeUpEvent(
  deps: EventsDeps,
  { serverId, kinds }: Subscription,
): Promise<ResolvedEvent | null> {
  const [type] = kinds;
  if (!type) return null;
  const at = deps.clock.now();
  const data = { ...SAMPLE_DATA[type](at), test: true };
  const [event] = await resolveEvents(deps, [{ _id: `evt_test_${randomUUID()}`, serverId, type, at, data }]);
  return event ?? null;
}

/** The fields of each kind (docs/events.md). */
const SAMPLE_DATA: Record<EventKind, (at: Date) => Record<string, unknown>> = {
  'vote.counted': (at) => ({
    vote_id: randomUUID(),
    username: TEST_USERNAME,
    voted_at: at.toISOString(),
    monthly_votes: 1,
  }),
  'goal.reached': () => ({
    goal_id: randomUUID(),
    round: 1,
    target: 500,
    period: 'week',
    votes: 500,
    goal_text: 'Test',
  }),
  'server.offline': (at) => ({ since: at.toISOString() }),
  'server.online': (at) => ({ since: after(at, -HOUR).toISOString(), offline_seconds: HOUR / 1_000 }),
  'listener.down': (at) => ({ reason: 'unreachable', since: after(at, -HOUR).toISOString() }),
  'listener.back': (at) => ({ since: after(at, -HOUR).toISOString() }),
  'votes.expiring': (at) => ({
    since: after(at, -DAY).toISOString(),
    expires_at: after(at, DAY).toISOString(),
  }),
  'review.published': () => ({ username: TEST_USERNAME, rating: 5 }),
  'rank.changed': (at) => ({ rank: 1, previous_rank: 2, day: at.toISOString().slice(0, 10) }),
  milestone: () => ({ votes: 1_000 }),
  'exclusion.decided': () => ({ votes: 1, decision: 'excluded' }),
};
