import type { FastifyInstance, FastifyRequest } from 'fastify';
import { UUID } from 'mongodb';
import { listenerReason } from '../../delivery/diagnosis/explanations.ts';
import {
  DELIVERED_RESENDS,
  mayHaveArrived,
  type Resent,
  resendVote,
  whyNotResend,
} from '../../delivery/resend-vote.ts';
import { actorsOf, ownerEvents } from '../../delivery/timeline/owner-events.ts';
import type { DeliveryStatus, VoteTimeline } from '../../delivery/timeline/timeline-event.ts';
import { MOST_AHEAD, voteTimeline } from '../../delivery/timeline/vote-timeline.ts';
import { defineMessage, type Text, t } from '../../language/t.ts';
import { actorNames } from '../../servers/actor-names.ts';
import type { Vote } from '../../votes/vote.ts';
import { serverOf, userOf } from '../access.ts';
import { PageError } from '../error-pages.ts';
import { OWNER } from '../page-route.ts';
import { serverPath } from '../shared/dashboard-paths.ts';
import { formRoute, type Refused, refused } from '../shared/form-route.ts';
import { counted, relative, time, timeText } from '../shared/format.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { sendPage } from '../shared/layout.ts';
import { type ListenerStatus, listenerStatusReader } from '../shared/listener-status.ts';
import { isUnchanged, livePart, markOf, seenMark, sendUnchanged, stateOf } from '../shared/live.ts';
import { button, card, confirmed, facts } from '../shared/parts.ts';
import { STATE_TEXTS, stateBadge } from '../shared/vote-state.ts';
import { timelineList } from '../shared/vote-timeline.ts';
import type { DashboardParts } from './dashboard-parts.ts';
import { serverFrame } from './server-frame.ts';

const MESSAGES = {
  resent: defineMessage('Vote queued again.'),
  'under-way': defineMessage('The vote is already queued.'),
};

/** `/dashboard/servers/<id>/votes/<vote>`: a vote's timeline, with a button to send it again. */
export function votePage(app: FastifyInstance, { deps }: DashboardParts): void {
  const { base } = app.site;
  const statusOf = listenerStatusReader(deps);

  const voteOf = async (request: FastifyRequest): Promise<Vote> => {
    const { voteId = '' } = request.params as { voteId?: string };
    const { _id: serverId } = serverOf(request);
    const vote = UUID.isValid(voteId) ? await deps.votes.findOne({ serverId, _id: new UUID(voteId) }) : null;
    if (!vote) throw new PageError(404, t('This server has no vote with this id.'));
    return vote;
  };

  app.get('/servers/:serverId/votes/:voteId', OWNER, async (request, reply) => {
    const server = serverOf(request);
    const vote = await voteOf(request);
    const now = deps.clock.now();
    const shownState = stateOf(vote);
    const seen = seenMark(request);
    if (seen && isUnchanged(seen, shownState, now)) return sendUnchanged(reply);
    const status = await statusOf(server._id);
    const timeline = await voteTimeline(deps, vote, status.listener, now);
    const nameOf = await actorNames(deps, server, actorsOf(timeline.events));
    const { state } = vote.delivery;
    const open = state === 'waiting' || state === 'sending';
    const votesPath = serverPath(base, server, '/votes');
    const path = `${votesPath}/${vote._id.toString()}`;
    const body = html`<p class="small"><a href="${votesPath}">${t('All votes')}</a></p>
      ${livePart({
        id: 'vote',
        href: path,
        announcement: t('The vote of {username}: {state}.', {
          username: vote.username,
          state: t(STATE_TEXTS[state]),
        }),
        open,
        mark: markOf(shownState, open, now),
        body: [
          card({
            title: html`${t('Vote of <bdi>{username}</bdi>', { username: vote.username })}`,
            actions: stateBadge(vote),
            body: [
              statusNotice(timeline, status, now),
              about(vote, timeline.status),
              resendAction(path, vote, status, now),
            ],
          }),
          card({ title: t('Timeline'), body: timelineList(ownerEvents(timeline.events, nameOf)) }),
        ],
      })}`;
    return sendPage(request, reply, {
      title: t('Vote of {username} · {server}', { username: vote.username, server: server.name }),
      live: true,
      messages: MESSAGES,
      body: serverFrame({ site: app.site, server, now, part: '/votes', body }),
    });
  });

  formRoute(app, {
    path: '/servers/:serverId/votes/:voteId/resend',
    access: OWNER,
    run: async ({ request }) => {
      const { _id } = await voteOf(request);
      const user = userOf(request);
      const resent = await resendVote(deps, _id, user.email, { forOwner: true, byId: user._id });
      const path = `${serverPath(base, serverOf(request), '/votes')}/${_id.toString()}`;
      return resent.kind === 'resent' || resent.kind === 'under-way'
        ? `${path}?done=${resent.kind satisfies keyof typeof MESSAGES}`
        : notResent(resent);
    },
  });
}

/** Why a vote was not queued. */
function notResent(resent: Exclude<Resent, { kind: 'resent' | 'under-way' }>): Refused {
  switch (resent.kind) {
    case 'no-listener':
      return refused(409, t('This server has no vote listener. Set one up first.'));
    case 'imported':
      return refused(409, t('Imported votes are never forwarded.'));
    case 'quarantined':
      return refused(409, t('This vote is quarantined: the operator of this listing decides about it.'));
    case 'too-old':
      return refused(409, t('You can send votes for 30 days after they were cast. This vote is older.'));
    case 'too-many':
      return refused(
        429,
        t('You can send {times} delivered votes again per hour. Try again later.', {
          times: DELIVERED_RESENDS.times,
        }),
        resent.nextAllowedAt,
      );
    case 'not-found':
      return refused(404, t('This server has no vote with this id.'));
  }
}

function countedText({ excludedAt, quarantinedAt }: Vote, status: DeliveryStatus): string | null {
  const isDecided = status.state === 'none' && status.why === 'excluded';
  if (quarantinedAt && !isDecided) return t('no: it is quarantined');
  return excludedAt ? t('no: an operator excluded it') : null;
}

function about(vote: Vote, status: DeliveryStatus): Html {
  const { _id, votedAt, delivery, source } = vote;
  return facts([
    [t('Cast'), time(votedAt)],
    [t('Attempts'), delivery.attemptCount === 0 ? t('none yet') : String(delivery.attemptCount)],
    [t('Cast with'), source === 'web' ? t('the vote form') : null],
    [t('Claimed'), vote.claim ? html`${t('by a plugin, {time}', { time: time(vote.claim.at) })}` : null],
    [t('Counted'), countedText(vote, status)],
    [t('Vote id'), html`<code>${_id.toString()}</code>`],
  ]);
}

/** A vote's status in sentences. */
function statusNotice(
  { status, mayHaveArrivedTwice }: VoteTimeline,
  { queuePaused, listener }: ListenerStatus,
  now: Date,
): Content {
  const twice = mayHaveArrivedTwice ? ` ${t('It may have arrived more than once.')}` : '';
  const reason = listener && listenerReason(listener);
  const mend =
    status.state === 'waiting' && reason?.code ? html`<p>${t(reason.cause)} ${t(reason.mend)}</p>` : '';
  return html`<p>${sentence(status, queuePaused, now)}${twice}</p>${mend}`;
}

function sentence(status: DeliveryStatus, queuePaused: boolean | null, now: Date): string {
  switch (status.state) {
    case 'none':
      return t(NONE[status.why]);
    case 'waiting': {
      const { givenUpAt } = status;
      const until = givenUpAt
        ? ` ${t('It expires {ago}, on {time}.', { ago: relative(givenUpAt, now), time: timeText(givenUpAt) })}`
        : '';
      return `${waitingText(status, queuePaused, now)}${until}`;
    }
    case 'sending':
      return t('An attempt is in progress.');
    case 'delivered': {
      const kind = status.confirmed === false ? 'sent' : status.confirmed ? 'confirmed' : 'delivered';
      const { plain, on } = DELIVERED[kind];
      return status.at ? t(on, { time: timeText(status.at) }) : t(plain);
    }
    case 'unconfirmed':
      if (status.why === 'restored') {
        return t(
          'Restored from a backup. It may have arrived since the backup. It is not sent again automatically; you can send it again until {time}.',
          { time: timeText(status.resendableUntil) },
        );
      }
      return t(
        'Sent, but the listener did not answer. It may have arrived. It is not sent again automatically; you can send it again until {time}.',
        { time: timeText(status.resendableUntil) },
      );
    case 'failed':
      return `${t(FAILED[status.why])} ${t('You can send it again until {time}.', {
        time: timeText(status.resendableUntil),
      })}`;
  }
}

/** A delivered vote, with and without the time of its delivery. */
const DELIVERED = {
  confirmed: {
    plain: defineMessage('Delivered and confirmed by the listener.'),
    on: defineMessage('Delivered on {time} and confirmed by the listener.'),
  },
  delivered: { plain: defineMessage('Delivered.'), on: defineMessage('Delivered on {time}.') },
  sent: {
    plain: defineMessage(
      'Sent, not confirmed. The listener closed the connection without an answer, as most Votifier v1 listeners do.',
    ),
    on: defineMessage(
      'Sent on {time}, not confirmed. The listener closed the connection without an answer, as most Votifier v1 listeners do.',
    ),
  },
};

const NONE: Record<Extract<DeliveryStatus, { state: 'none' }>['why'], Text> = {
  imported: defineMessage('This vote was imported. Imported votes are never forwarded.'),
  quarantined: defineMessage(
    'This vote is quarantined: it looks unusual, and the operator of this listing decides whether it counts and is delivered.',
  ),
  excluded: defineMessage('The operator of this listing excluded this vote before it was delivered.'),
  'no-listener': defineMessage(
    'There was no vote listener when this vote was cast. You can send it after you set one up.',
  ),
  'listener-removed': defineMessage(
    'The vote listener was removed before this vote was delivered. You can send it after you set one up again.',
  ),
};

const FAILED: Record<Extract<DeliveryStatus, { state: 'failed' }>['why'], Text> = {
  refused: defineMessage('The listener refused this vote.'),
  expired: defineMessage('It expired before it could be delivered.'),
  'server-removed': defineMessage('The server was removed.'),
};

function waitingText(
  { waitingFor, ahead }: Extract<DeliveryStatus, { state: 'waiting' }>,
  queuePaused: boolean | null,
  now: Date,
): string {
  switch (waitingFor.kind) {
    case 'no-listener':
      return t('The listener was removed, so the vote leaves the queue.');
    case 'resume':
      return t('Waiting until you resume the listener.');
    case 'listener-test':
      return t('Waiting for the listener, which is unreachable. Next test {time}.', {
        time: relative(waitingFor.at, now),
      });
    case 'outgoing-limit':
      return t(
        'It will be sent {time}. The number of connections per minute is limited until the listener acknowledges its first vote.',
        { time: relative(waitingFor.at, now) },
      );
    case 'own-retry':
      return t('Waiting for its next attempt, {time}.', { time: relative(waitingFor.at, now) });
    case 'turn': {
      if (queuePaused)
        return t('Waiting: the operator of this listing has paused vote delivery for all servers.');
      if (ahead === 0) return t('Next in the queue.');
      const votes = counted(ahead, 'vote');
      return ahead === MOST_AHEAD
        ? t('Waiting in the queue, with at least {votes} before it.', { votes })
        : t('Waiting in the queue, with {votes} before it.', { votes });
    }
  }
}

function resendAction(path: string, vote: Vote, { listener }: ListenerStatus, now: Date): Content {
  if (!listener || whyNotResend(vote, now)) return '';
  const isFirst = vote.delivery.state === 'none';
  const sendButton = button({
    to: `${path}/resend`,
    text: isFirst ? t('Send vote') : t('Send again'),
    kind: 'primary',
  });
  if (!mayHaveArrived(vote)) return sendButton;
  const consequence =
    vote.delivery.state === 'delivered'
      ? t('This vote was delivered. If you send it again, it arrives twice.')
      : t('This vote may have arrived. If you send it again, it may arrive twice.');
  return confirmed({ text: t('Send again'), consequence, form: sendButton });
}
