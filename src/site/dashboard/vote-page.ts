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
import { livePart } from '../live.ts';
import { OWNER } from '../page-route.ts';
import { button, card, confirmed, facts } from '../parts.ts';
import { counted, relative, time, timeText } from '../words.ts';
import type { DashboardSources } from './dashboard-sources.ts';
import { type ListenerStatus, listenerStatusReader } from './listener-status.ts';
import { serverFrame, serverPath } from './server-frame.ts';
import { STATE_WORDS } from './vote-filter.ts';
import { timelineList } from './vote-timeline.ts';
import { stateBadge } from './vote-words.ts';

const SAYS = {
  resent: 'The vote is in the line again.',
  'under-way': 'The vote is in the line already: it is not put there twice.',
};

/** `/dashboard/servers/<id>/votes/<vote>`: one vote's whole way, and the button that sends it again. */
export function votePage(app: FastifyInstance, { platform }: DashboardSources): void {
  const { base } = app.site;
  const statusOf = listenerStatusReader(platform);

  const voteOf = async (request: FastifyRequest): Promise<Vote> => {
    const { voteId = '' } = request.params as { voteId?: string };
    const { _id: serverId } = serverOf(request);
    const vote = UUID.isValid(voteId)
      ? await platform.votes.findOne({ serverId, _id: new UUID(voteId) })
      : null;
    if (!vote) throw new PageError(404, 'This server has no such vote.');
    return vote;
  };

  app.get('/servers/:serverId/votes/:voteId', OWNER, async (request, reply) => {
    const server = serverOf(request);
    const vote = await voteOf(request);
    const now = platform.clock.now();
    const status = await statusOf(server._id);
    const timeline = await voteTimeline(platform, vote, status.listener, now);
    const { state } = vote.delivery;
    const votesPath = serverPath(base, server, '/votes');
    const path = `${votesPath}/${vote._id.toString()}`;
    const body = html`<p class="small"><a href="${votesPath}">All votes</a></p>
      ${livePart({
        id: 'vote',
        href: path,
        said: `The vote of ${vote.username}: ${STATE_WORDS[state]}.`,
        open: state === 'waiting' || state === 'sending',
        body: [
          card({
            title: html`Vote of <bdi>${vote.username}</bdi>`,
            actions: stateBadge(vote),
            body: [standingNotice(timeline, status, now), about(vote), resendAction(path, vote, status, now)],
          }),
          card({ title: 'What happened', body: timelineList(timeline.events) }),
        ],
      })}`;
    return sendPage(request, reply, {
      title: `Vote of ${vote.username} · ${server.name}`,
      live: true,
      says: SAYS,
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

/** @throws {PageError} where nothing was done */
function doneBy(resent: Resent): keyof typeof SAYS {
  switch (resent.kind) {
    case 'resent':
    case 'under-way':
      return resent.kind;
    case 'no-listener':
      throw new PageError(409, 'This server has no vote listener: set one first.');
    case 'imported':
      throw new PageError(409, 'The vote was imported, and imported votes are never forwarded.');
    case 'too-old':
      throw new PageError(409, 'Votes can be sent for 30 days after they were cast, and this one is older.');
    case 'too-many':
      throw new PageError(
        429,
        `A server’s delivered votes can be sent again ${DELIVERED_RESENDS.times} times an hour. Try again later.`,
        resent.nextAllowedAt,
      );
    case 'not-found':
      throw new PageError(404, 'This server has no such vote.');
  }
}

function about({ _id, votedAt, delivery, excludedAt }: Vote): Html {
  return facts([
    ['Cast', time(votedAt)],
    ['Attempts', delivery.attemptCount === 0 ? 'none yet' : String(delivery.attemptCount)],
    ['Counts', excludedAt ? 'nowhere: an operator excluded it' : null],
    ['Vote id', html`<code>${_id.toString()}</code>`],
  ]);
}

/** How a vote stands, in sentences. */
function standingNotice(
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
      const until = givenUpAt
        ? ` It is given up ${relative(givenUpAt, now)}, on ${timeText(givenUpAt)}.`
        : '';
      return `${waits(status, queuePaused, now)}${until}`;
    }
    case 'sending':
      return 'An attempt is under way.';
    case 'delivered': {
      const at = status.at ? ` on ${timeText(status.at)}` : '';
      if (status.confirmed === false) {
        return `Sent${at}, and not confirmed: the listener closed without an answer, as most do in Votifier v1.`;
      }
      return `Delivered${at}${status.confirmed ? ', and confirmed by the listener' : ''}.`;
    }
    case 'unconfirmed':
      return `It was sent, and no answer came: it may have arrived. Only you send it again, until ${timeText(status.resendableUntil)}.`;
    case 'failed':
      return `${FAILED[status.why]} You can send it again until ${timeText(status.resendableUntil)}.`;
  }
}

const NONE: Record<Extract<DeliveryStatus, { state: 'none' }>['why'], string> = {
  imported: 'It was cast elsewhere and imported. Imported votes are never forwarded.',
  'no-listener': 'When it was cast there was no vote listener. You can send it when there is one.',
  'listener-removed':
    'The vote listener was removed while it waited. You can send it when there is one again.',
};

const FAILED: Record<Extract<DeliveryStatus, { state: 'failed' }>['why'], string> = {
  refused: 'The listener refused it.',
  expired: 'It could not be delivered in time.',
  'server-removed': 'The server was removed.',
};

function waits(
  { waitingFor, ahead }: Extract<DeliveryStatus, { state: 'waiting' }>,
  queuePaused: boolean | null,
  now: Date,
): string {
  switch (waitingFor.kind) {
    case 'no-listener':
      return 'The listener was removed: the vote is removed from the queue.';
    case 'resume':
      return 'It waits until the listener is resumed.';
    case 'listener-test':
      return `It waits for the listener, which cannot be reached and is tested ${relative(waitingFor.at, now)}.`;
    case 'outgoing-limit':
      return `It is sent ${relative(waitingFor.at, now)}. The listener has not acknowledged a vote yet, and until it does only so many connections a minute are opened to its address and for one account.`;
    case 'own-retry':
      return `It waits for its next attempt, ${relative(waitingFor.at, now)}.`;
    case 'turn': {
      if (queuePaused) return 'It waits: an operator of this listing holds the votes of every server.';
      if (ahead === 0) return 'It waits for its turn.';
      const votes = counted(ahead, 'vote');
      return `It waits for its turn: ${ahead === MOST_AHEAD ? 'at least ' : ''}${votes} ${ahead === 1 ? 'stands' : 'stand'} before it in the line.`;
    }
  }
}

function resendAction(path: string, vote: Vote, { listener }: ListenerStatus, now: Date): Content {
  if (!listener || whyNotResend(vote, now)) return '';
  const isFirst = vote.delivery.state === 'none';
  const press = button({
    to: `${path}/resend`,
    text: isFirst ? 'Send it' : 'Send it again',
    kind: 'primary',
  });
  if (!mayHaveArrived(vote)) return press;
  const consequence =
    vote.delivery.state === 'delivered'
      ? 'This vote was delivered. Sent again, it arrives twice.'
      : 'This vote may have arrived. Sent again, it may arrive twice.';
  return confirmed({ text: 'Send it again', consequence, form: press });
}
