import type { LoggedAttempt } from '../events/attempt-log.ts';
import { subscriptionState } from '../events/subscription.ts';
import type { SubscriptionView } from '../events/subscriptions.ts';
import { iso, span, utc, when } from './output-format.ts';
import { table } from './table.ts';

export function subscriptionsTable(shown: SubscriptionView[], now: Date): string {
  return table(
    ['ID', 'NAME', 'ADDRESS', 'STATE', 'WAITING', 'LAST SENT', 'KINDS', 'LAST REASON'],
    shown.map((subscription) => {
      const { _id, name, url, ending, kinds, lastSentAt, lastReason, waiting } = subscription;
      const address = url ?? `Discord …${ending}`;
      const state = subscriptionState(subscription);
      const sent = when(lastSentAt, now);
      return [_id.toHexString(), name, address, state, waiting, sent, kinds.join(','), lastReason ?? '-'];
    }),
    'There are no subscriptions.',
  );
}

export function subscriptionJson(subscription: SubscriptionView): object {
  const { _id, serverId, type, name, kinds, url, ending, template, createdAt } = subscription;
  const { pause, failingSince, lastReason, lastSentAt, dropped, waiting } = subscription;
  return {
    id: _id.toHexString(),
    server_id: serverId.toHexString(),
    type,
    name,
    kinds,
    ...(type === 'http' ? { url } : { webhook_ending: ending, template: template ?? null }),
    state: subscriptionState(subscription),
    paused_at: iso(pause?.at),
    failing_since: iso(failingSince),
    last_reason: pause?.reason ?? lastReason ?? null,
    last_sent_at: iso(lastSentAt),
    waiting,
    dropped: dropped?.count ?? 0,
    created_at: iso(createdAt),
  };
}

export function attemptsTable(attempts: LoggedAttempt[]): string {
  return table(
    ['AT', 'EVENT', 'TYPE', 'RESULT', 'STATUS', 'TOOK', 'REASON'],
    attempts.map(({ at, eventId, type, end, status, durationMs, reason, isTest }) => [
      utc(at),
      eventId,
      isTest ? `${type} (test)` : type,
      end,
      status ?? '-',
      span(durationMs),
      reason ?? '-',
    ]),
    'Nothing was sent yet.',
  );
}

export function attemptJson({
  at,
  eventId,
  type,
  end,
  status,
  durationMs,
  reason,
  isTest,
}: LoggedAttempt): object {
  return {
    at: at.toISOString(),
    event_id: eventId,
    type,
    result: end,
    status: status ?? null,
    duration_ms: durationMs,
    reason: reason ?? null,
    test: isTest === true,
  };
}
