import type { ListenerView } from '../delivery/change-listener.ts';
import { type ListenerReason, listenerReason } from '../delivery/diagnosis/listener-reason.ts';
import type { RefusedVote } from '../delivery/refused-vote.ts';
import { t } from '../language/t.ts';
import { maxSendingsOf } from '../listeners/delivery-limits.ts';
import type { Listener } from '../listeners/listener.ts';
import { firstBeyondAscii, lastDelivery } from '../listeners/listener-state.ts';
import { hostAndPort } from '../platform/host-and-port.ts';
import type { Server } from '../servers/server.ts';
import { invocation } from './invocation.ts';
import { countWithNoun, iso, when } from './output-format.ts';
import { QUEUE_PAUSED, type Session } from './session.ts';
import { type Pair, pairs } from './table.ts';

/**
 * `queuePaused`: whether an operator paused a delivery queue; null if Redis does not answer. `unreadable`: the
 * listener's secret was encrypted with another `SECRET_KEY`. `refused`: the last vote that the listener refused.
 */
export type ShownListener = ListenerView & {
  queuePaused: boolean | null;
  unreadable: boolean;
  refused: RefusedVote | null;
};

export function listenerAddress({ host, port, url }: Pick<Listener, 'host' | 'port' | 'url'>): string {
  return url ?? hostAndPort(host, port);
}

export function listenerText(shown: ShownListener, server: Server, session: Session): string {
  const now = session.clock.now();
  const reason = listenerReason(shown);
  return pairs([
    ['Server', server.slug],
    ['State', reason ? `${shown.state} since ${when(reason.since, now)}` : shown.state],
    ['Queue', isHeldByPause(shown) ? QUEUE_PAUSED : null],
    ...(reason ? reasonRows(reason) : []),
    ['Failed', reason ? null : failuresText(shown)],
    ['Secret', shown.unreadable ? UNREADABLE : null],
    ...settingsRows(shown, now),
    ['Challenge', shown.state === 'unverified' ? UNVERIFIED : null],
    ['Limited', limitText(shown, now)],
    ['Rewards', shown.rewards ?? 'both (not chosen)'],
    ['Sent at most', sentAtMostText(shown)],
    ['Waiting', countWithNoun(shown.waiting, 'vote')],
    ['Unconfirmed', unconfirmedText(shown, server, session)],
    ['Sent, not confirmed', sentText(shown, server, session)],
    ['Next test', when(nextTest(shown), now)],
    ['Last delivered', lastDeliveredText(shown, now)],
    ['Last refused', refusedText(shown, now)],
    ['Changed', when(shown.updatedAt, now)],
  ]);
}

function reasonRows({ cause, code, advice, words, detail }: ListenerReason): Pair[] {
  return [
    ['Cause', code ? `${t(cause)} (${code})` : t(cause)],
    ['What to do', t(advice)],
    ['Answer', words ? `“${words}”` : null],
    ['Found', detail || null],
  ];
}

function failuresText({ breaker: { failures, code } }: ShownListener): string | null {
  return failures > 0 && code ? `${countWithNoun(failures, 'time')} in a row: ${code}` : null;
}

function settingsRows(shown: ShownListener, now: Date): Pair[] {
  const isFetching = shown.protocol === 'fetch';
  return [
    ['Protocol', shown.protocol],
    ['Fetched', isFetching ? fetchedText(shown, now) : null],
    ['Address', isFetching ? null : listenerAddress(shown)],
    ['Names', firstBeyondAscii(shown) ? MAY_MANGLE : null],
    ['Service name', shown.url ? null : shown.serviceName],
  ];
}

function lastDeliveredText(shown: ShownListener, now: Date): string {
  const last = lastDelivery(shown);
  if (!last) return 'none with these settings';
  return `${when(last.at, now)}${last.confirmed === false ? ', not confirmed' : ''}`;
}

function refusedText({ refused }: ShownListener, now: Date): string | null {
  if (!refused) return null;
  const { id, username, at, words } = refused;
  return `“${username}” (${id}), ${when(at, now)}${words ? `: “${words}”` : ''}`;
}

function sentAtMostText(shown: ShownListener): string {
  const most = maxSendingsOf(shown);
  const alsoAfter = most === 1 && shown.url ? ', or after HTTP 5xx or 408' : '';
  return `${countWithNoun(most, 'time')} when no answer comes${alsoAfter}`;
}

/** Whether a paused delivery queue may hold the votes back. Votes that the server fetches pass through no queue. */
export function isHeldByPause({ protocol, queuePaused }: ShownListener): boolean {
  return queuePaused === true && protocol !== 'fetch';
}

function fetchedText({ fetched }: ShownListener, now: Date): string {
  if (!fetched) return 'never';
  return `${when(fetched.at, now)}${fetched.agent ? ` by “${fetched.agent}”` : ''}`;
}

const MAY_MANGLE =
  'beyond ASCII may arrive mangled: many Votifier v1 listeners take only ASCII; v2 keeps them';

const UNREADABLE =
  'cannot be read, so no vote is sent: it was stored under another SECRET_KEY; set that one as SECRET_KEY, or as SECRET_KEY_PREVIOUS';

const UNVERIFIED = 'not repeated yet; a test or the first vote sends one';

function limitText({ limited }: ShownListener, now: Date): string | null {
  if (!limited) return null;
  const whose = limited.by === 'account' ? 'for its owner’s servers' : 'to its address';
  return `until ${when(limited.until, now)}: too many connections ${whose} without an acknowledgement`;
}

export function unconfirmedText(
  { unconfirmed }: ShownListener,
  { slug }: Server,
  { terminal }: Session,
): string {
  const votes = countWithNoun(unconfirmed, 'vote');
  if (unconfirmed === 0) return votes;
  const again = invocation(`vote resend ${slug} --since TIME --state unconfirmed`, terminal.env);
  return `${votes} given up; they may have arrived. To send them again: ${again}`;
}

export function sentText(
  { sentNotConfirmed }: ShownListener,
  { slug }: Server,
  { terminal }: Session,
): string | null {
  if (sentNotConfirmed === 0) return null;
  const again = invocation(`vote resend ${slug} --since TIME --state sent-not-confirmed`, terminal.env);
  const votes = `${countWithNoun(sentNotConfirmed, 'vote')} that nothing confirmed, counted as delivered`;
  return `${votes}. If they did not arrive, send them again: ${again}`;
}

function nextTest({ pause, breaker }: ListenerView): Date | null {
  return pause ? null : (breaker.nextTestAt ?? null);
}

export function listenerJson(shown: ShownListener): Record<string, unknown> {
  const reason = listenerReason(shown);
  const last = lastDelivery(shown);
  return {
    server_id: shown.serverId.toHexString(),
    listener_id: shown._id.toHexString(),
    protocol: shown.protocol,
    host: shown.host || null,
    port: shown.port || null,
    url: shown.url ?? null,
    service_name: shown.serviceName,
    names_may_be_mangled: firstBeyondAscii(shown) !== null,
    state: shown.state,
    reason: reason && {
      code: reason.code ?? null,
      cause: t(reason.cause),
      mend: t(reason.advice),
      words: reason.words ?? null,
      detail: reason.detail ?? null,
      since: iso(reason.since),
    },
    queue_paused: shown.queuePaused,
    secret_readable: !shown.unreadable,
    waiting: shown.waiting,
    unconfirmed: shown.unconfirmed,
    sent_not_confirmed: shown.sentNotConfirmed,
    max_sendings: maxSendingsOf(shown),
    last_refused: shown.refused && {
      vote_id: shown.refused.id,
      username: shown.refused.username,
      at: iso(shown.refused.at),
      words: shown.refused.words ?? null,
    },
    last_fetched_at: iso(shown.fetched?.at ?? null),
    fetched_by: shown.fetched?.agent || null,
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
