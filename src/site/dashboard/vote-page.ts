import type { FastifyInstance, FastifyRequest } from 'fastify';
import { html } from 'hono/html';
import { UUID } from 'mongodb';
import { listenerReason } from '../../delivery/diagnosis/explanations.ts';
import {
  DELIVERED_RESENDS,
  mayHaveArrived,
  type Resent,
  resendVote,
  whyNotResend,
} from '../../delivery/resend-vote.ts';
import type { DeliveryStatus, VoteTimeline } from '../../delivery/timeline/timeline-event.ts';
import { MOST_AHEAD, voteTimeline } from '../../delivery/timeline/vote-timeline.ts';
import type { Vote } from '../../votes/vote.ts';
import { serverOf, userOf } from '../access.ts';
import { PageError } from '../error-pages.ts';
import type { Content, Html } from '../html.ts';
import { sendPage } from '../layout.ts';
import { isUnchanged, livePart, markOf, seenMark, sendUnchanged, stateOf } from '../live.ts';
import { OWNER } from '../page-route.ts';
import { button, card, confirmed, facts } from '../parts.ts';
import { counted, relative, time, timeText } from '../words.ts';
import type { DashboardSources } from './dashboard-sources.ts';
import { type ListenerStatus, listenerStatusReader } from './listener-status.ts';
import { serverFrame, serverPath } from './server-frame.ts';
import { STATE_WORDS } from './vote-filter.ts';
import { timelineList } from './vote-timeline.ts';
import { stateBadge } from './vote-words.ts';

const MESSAGES = {
  resent: 'Vote queued again.',
  'under-way': 'The vote is already queued.',
};

/** `/dashboard/servers/<id>/votes/<vote>`: a vote's timeline, with a button to send it again. */
export function votePage(app: FastifyInstance, { platform }: DashboardSources): void {
  const { base } = app.site;
  const statusOf = listenerStatusReader(platform);

  const voteOf = async (request: FastifyRequest): Promise<Vote> => {
    const { voteId = '' } = request.params as { voteId?: string };
    const { _id: serverId } = serverOf(request);
    const vote = UUID.isValid(voteId)
      ? await platform.votes.findOne({ serverId, _id: new UUID(voteId) })
      : null;
    if (!vote) throw new PageError(404, 'This server has no vote with this id.');
    return vote;
  };

  app.get('/servers/:serverId/votes/:voteId', OWNER, async (request, reply) => {
    const server = serverOf(request);
    const vote = await voteOf(request);
    const now = platform.clock.now();
    const shownState = stateOf(vote);
    const seen = seenMark(request);
    if (seen && isUnchanged(seen, shownState, now)) return sendUnchanged(reply);
    const status = await statusOf(server._id);
    const timeline = await voteTimeline(platform, vote, status.listener, now);
    const { state } = vote.delivery;
    const open = state === 'waiting' || state === 'sending';
    const votesPath = serverPath(base, server, '/votes');
    const path = `${votesPath}/${vote._id.toString()}`;
    const body = html`<p class="small"><a href="${votesPath}">All votes</a></p>
      ${livePart({
        id: 'vote',
        href: path,
        announcement: `The vote of ${vote.username}: ${STATE_WORDS[state]}.`,
        open,
        mark: markOf(shownState, open, now),
        body: [
          card({
            title: html`Vote of <bdi>${vote.username}</bdi>`,
            actions: stateBadge(vote),
            body: [statusNotice(timeline, status, now), about(vote), resendAction(path, vote, status, now)],
          }),
          card({ title: 'Timeline', body: timelineList(timeline.events) }),
        ],
      })}`;
    return sendPage(request, reply, {
      title: `Vote of ${vote.username} · ${server.name}`,
      live: true,
      messages: MESSAGES,
      body: serverFrame({ base, server, now, part: '/votes', body }),
    });
  });

  app.post('/servers/:serverId/votes/:voteId/resend', OWNER, async (request, reply) => {
    const { _id } = await voteOf(request);
    const resent = await resendVote(platform, _id, userOf(request).email, { forOwner: true });
    const path = `${serverPath(base, serverOf(request), '/votes')}/${_id.toString()}`;
    return reply.redirect(`${path}?done=${doneBy(resent)}`, 303);
  });
}

/** @throws {PageError} if the vote was not queued */
function doneBy(resent: Resent): keyof typeof MESSAGES {
  switch (resent.kind) {
    case 'resent':
    case 'under-way':
      return resent.kind;
    case 'no-listener':
      throw new PageError(409, 'This server has no vote listener. Set one up first.');
    case 'imported':
      throw new PageError(409, 'Imported votes are never forwarded.');
    case 'quarantined':
      throw new PageError(409, 'This vote is quarantined: the operator of this listing decides about it.');
    case 'too-old':
      throw new PageError(409, 'You can send votes for 30 days after they were cast. This vote is older.');
    case 'too-many':
      throw new PageError(
        429,
        `You can send ${DELIVERED_RESENDS.times} delivered votes again per hour. Try again later.`,
        resent.nextAllowedAt,
      );
    case 'not-found':
      throw new PageError(404, 'This server has no vote with this id.');
  }
}

function countedText({ excludedAt, quarantinedAt }: Vote): string | null {
  if (quarantinedAt) return 'no: it is quarantined';
  return excludedAt ? 'no: an operator excluded it' : null;
}

function about(vote: Vote): Html {
  const { _id, votedAt, delivery, source } = vote;
  return facts([
    ['Cast', time(votedAt)],
    ['Attempts', delivery.attemptCount === 0 ? 'none yet' : String(delivery.attemptCount)],
    ['Cast with', source === 'web' ? 'the vote form' : null],
    ['Claimed', vote.claim ? html`by a plugin, ${time(vote.claim.at)}` : null],
    ['Counted', countedText(vote)],
    ['Vote id', html`<code>${_id.toString()}</code>`],
  ]);
}

/** A vote's status in sentences. */
function statusNotice(
  { status, mayHaveArrivedTwice }: VoteTimeline,
  { queuePaused, listener }: ListenerStatus,
  now: Date,
): Content {
  const twice = mayHaveArrivedTwice ? ' It may have arrived more than once.' : '';
  const reason = listener && listenerReason(listener);
  const mend = status.state === 'waiting' && reason?.code ? html`<p>${reason.cause} ${reason.mend}</p>` : '';
  return html`<p>${sentence(status, queuePaused, now)}${twice}</p>${mend}`;
}

function sentence(status: DeliveryStatus, queuePaused: boolean | null, now: Date): string {
  switch (status.state) {
    case 'none':
      return NONE[status.why];
    case 'waiting': {
      const { givenUpAt } = status;
      const until = givenUpAt ? ` It expires ${relative(givenUpAt, now)}, on ${timeText(givenUpAt)}.` : '';
      return `${waitingText(status, queuePaused, now)}${until}`;
    }
    case 'sending':
      return 'An attempt is in progress.';
    case 'delivered': {
      const at = status.at ? ` on ${timeText(status.at)}` : '';
      if (status.confirmed === false) {
        return `Sent${at}, not confirmed. The listener closed the connection without an answer, as most Votifier v1 listeners do.`;
      }
      return `Delivered${at}${status.confirmed ? ' and confirmed by the listener' : ''}.`;
    }
    case 'unconfirmed':
      return `Sent, but the listener did not answer. It may have arrived. It is not sent again automatically; you can send it again until ${timeText(status.resendableUntil)}.`;
    case 'failed':
      return `${FAILED[status.why]} You can send it again until ${timeText(status.resendableUntil)}.`;
  }
}

const NONE: Record<Extract<DeliveryStatus, { state: 'none' }>['why'], string> = {
  imported: 'This vote was imported. Imported votes are never forwarded.',
  quarantined:
    'This vote is quarantined: it looks unusual, and the operator of this listing decides whether it counts and is delivered.',
  excluded: 'This vote was quarantined, and the operator of this listing excluded it.',
  'no-listener': 'There was no vote listener when this vote was cast. You can send it after you set one up.',
  'listener-removed':
    'The vote listener was removed before this vote was delivered. You can send it after you set one up again.',
};

const FAILED: Record<Extract<DeliveryStatus, { state: 'failed' }>['why'], string> = {
  refused: 'The listener refused this vote.',
  expired: 'It expired before it could be delivered.',
  'server-removed': 'The server was removed.',
};

function waitingText(
  { waitingFor, ahead }: Extract<DeliveryStatus, { state: 'waiting' }>,
  queuePaused: boolean | null,
  now: Date,
): string {
  switch (waitingFor.kind) {
    case 'no-listener':
      return 'The listener was removed, so the vote leaves the queue.';
    case 'resume':
      return 'Waiting until you resume the listener.';
    case 'listener-test':
      return `Waiting for the listener, which is unreachable. Next test ${relative(waitingFor.at, now)}.`;
    case 'outgoing-limit':
      return `It will be sent ${relative(waitingFor.at, now)}. The number of connections per minute is limited until the listener acknowledges its first vote.`;
    case 'own-retry':
      return `Waiting for its next attempt, ${relative(waitingFor.at, now)}.`;
    case 'turn': {
      if (queuePaused)
        return 'Waiting: the operator of this listing has paused vote delivery for all servers.';
      if (ahead === 0) return 'Next in the queue.';
      const votes = counted(ahead, 'vote');
      return `Waiting in the queue, with ${ahead === MOST_AHEAD ? 'at least ' : ''}${votes} before it.`;
    }
  }
}

function resendAction(path: string, vote: Vote, { listener }: ListenerStatus, now: Date): Content {
  if (!listener || whyNotResend(vote, now)) return '';
  const isFirst = vote.delivery.state === 'none';
  const sendButton = button({
    to: `${path}/resend`,
    text: isFirst ? 'Send vote' : 'Send again',
    kind: 'primary',
  });
  if (!mayHaveArrived(vote)) return sendButton;
  const consequence =
    vote.delivery.state === 'delivered'
      ? 'This vote was delivered. If you send it again, it arrives twice.'
      : 'This vote may have arrived. If you send it again, it may arrive twice.';
  return confirmed({ text: 'Send again', consequence, form: sendButton });
}
