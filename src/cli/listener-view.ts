import { listenerReason } from '../delivery/diagnosis/explanations.ts';
import type { ListenerView } from '../delivery/listeners.ts';
import { type Listener, lastDelivery } from '../listeners/listener.ts';
import { mostSendings } from '../listeners/schedule.ts';
import type { Server } from '../servers/server.ts';
import { invocation } from './invocation.ts';
import { QUEUE_PAUSED } from './queue-pause.ts';
import type { Session } from './session.ts';
import { pairs } from './table.ts';
import { counted, iso, when } from './words.ts';

/** A listener with whether the queue of all of them is paused; null: Redis does not say. */
export type ShownListener = ListenerView & { queuePaused: boolean | null };

/** Where a listener takes votes. */
export function addressOf({ host, port, url }: Pick<Listener, 'host' | 'port' | 'url'>): string {
  if (url) return url;
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

/** How a listener stands, for users. */
export function listenerText(shown: ShownListener, server: Server, session: Session): string {
  const now = session.clock.now();
  const reason = listenerReason(shown);
  const { breaker } = shown;
  const last = lastDelivery(shown);
  const failing = !reason && breaker.failures > 0 && breaker.code;
  return pairs([
    ['Server', server.slug],
    ['State', reason ? `${shown.state} since ${when(reason.since, now)}` : shown.state],
    ...(shown.queuePaused ? ([['Queue', QUEUE_PAUSED]] satisfies [string, string][]) : []),
    ...(reason
      ? ([
          ['Cause', reason.code ? `${reason.cause} (${reason.code})` : reason.cause],
          ['Mend', reason.mend],
        ] satisfies [string, string][])
      : []),
    ...(reason?.words ? ([['The listener said', `«${reason.words}»`]] satisfies [string, string][]) : []),
    ...(reason?.detail ? ([['Found', reason.detail]] satisfies [string, string][]) : []),
    ...(failing
      ? ([['Failed', `${counted(breaker.failures, 'time')} in a row: ${breaker.code}`]] satisfies [
          string,
          string,
        ][])
      : []),
    ['Protocol', shown.protocol],
    ['Address', addressOf(shown)],
    ...(shown.url ? [] : ([['Service name', shown.serviceName]] satisfies [string, string][])),
    ...(shown.state === 'unverified' ? ([['Challenge', UNVERIFIED]] satisfies [string, string][]) : []),
    ...limitText(shown, now),
    ['Sent at most', `${counted(mostSendings(shown), 'time')} when no answer comes`],
    ['Waiting', counted(shown.waiting, 'vote')],
    ['Unconfirmed', unconfirmedText(shown, server, session)],
    ...(sentText(shown, server, session) satisfies [string, string][]),
    ['Next test', when(nextTest(shown), now)],
    [
      'Last delivered',
      last
        ? `${when(last.at, now)}${last.confirmed === false ? ', not confirmed' : ''}`
        : 'none with these settings',
    ],
    ['Changed', when(shown.updatedAt, now)],
  ]);
}

const UNVERIFIED = 'not repeated yet; a test or the first vote brings one';

/** Until when an allowance of connections holds its votes. */
function limitText({ limited }: ShownListener, now: Date): [string, string][] {
  if (!limited) return [];
  const whose = limited.by === 'account' ? 'for its owner’s servers' : 'to its address';
  return [
    [
      'Limited',
      `until ${when(limited.until, now)}: too many connections ${whose} without an acknowledgement`,
    ],
  ];
}

/** Votes that were given up without an answer, and what to do about them. */
export function unconfirmedText(
  { unconfirmed }: ShownListener,
  { slug }: Server,
  { terminal }: Session,
): string {
  const votes = counted(unconfirmed, 'vote');
  if (unconfirmed === 0) return votes;
  const again = invocation(`vote resend ${slug} --since TIME --state unconfirmed`, terminal.env);
  return `${votes} given up without an answer, which may have arrived; send them again: ${again}`;
}

/** Delivered votes that Votifier v1 did not confirm, and what to do about them; nothing where there are none. */
export function sentText(
  { sentNotConfirmed }: ShownListener,
  { slug }: Server,
  { terminal }: Session,
): [string, string][] {
  if (sentNotConfirmed === 0) return [];
  const again = invocation(`vote resend ${slug} --since TIME --state sent-not-confirmed`, terminal.env);
  const words = `${counted(sentNotConfirmed, 'vote')} that Votifier v1 closed without an answer, counted as delivered`;
  return [['Sent, not confirmed', `${words}; if they did not arrive, send them again: ${again}`]];
}

/** A paused listener is not tested. */
function nextTest({ pause, breaker }: ListenerView): Date | null {
  return pause ? null : (breaker.nextTestAt ?? null);
}

/** The same as plain values. */
export function listenerJson(shown: ShownListener): Record<string, unknown> {
  const reason = listenerReason(shown);
  const last = lastDelivery(shown);
  return {
    server_id: shown.serverId.toHexString(),
    listener_id: shown._id.toHexString(),
    protocol: shown.protocol,
    host: shown.host,
    port: shown.port,
    url: shown.url ?? null,
    service_name: shown.serviceName,
    state: shown.state,
    reason: reason && {
      code: reason.code ?? null,
      cause: reason.cause,
      mend: reason.mend,
      words: reason.words ?? null,
      detail: reason.detail ?? null,
      since: iso(reason.since),
    },
    queue_paused: shown.queuePaused,
    waiting: shown.waiting,
    unconfirmed: shown.unconfirmed,
    sent_not_confirmed: shown.sentNotConfirmed,
    max_sendings: mostSendings(shown),
    next_test_at: iso(nextTest(shown)),
    limited_until: iso(shown.limited?.until ?? null),
    limited_by: shown.limited?.by ?? null,
    failures: shown.breaker.failures,
    last_failure: shown.breaker.code ?? null,
    last_delivered_at: iso(last?.at ?? null),
    last_delivery_confirmed: last?.confirmed ?? null,
    revision: shown.revision,
    created_at: iso(shown.createdAt),
    updated_at: iso(shown.updatedAt),
  };
}
