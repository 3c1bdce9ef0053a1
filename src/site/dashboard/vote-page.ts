import type { FastifyInstance, FastifyRequest } from 'fastify';
import { UUID } from 'mongodb';
import { z } from 'zod';
import {
  DELIVERED_RESENDS,
  mayArriveTwice,
  type Resent,
  resendVote,
  whyNotResend,
} from '../../delivery/resend-vote.ts';
import { statusText } from '../../delivery/timeline/status-text.ts';
import type { DeliveryStatus, VoteTimeline } from '../../delivery/timeline/timeline-event.ts';
import { actorsOf, ownerEvents } from '../../delivery/timeline/timeline-texts.ts';
import { voteTimeline } from '../../delivery/timeline/vote-timeline.ts';
import { defineMessage, t } from '../../language/t.ts';
import { RESENDABLE_DAYS } from '../../listeners/delivery-limits.ts';
import { actorNames } from '../../servers/actor-names.ts';
import { arrivalOf } from '../../votes/arrival.ts';
import { stateNameOf } from '../../votes/state-names.ts';
import type { Vote } from '../../votes/vote.ts';
import { PageError } from '../error-pages.ts';
import { serverOf } from '../guard-routes.ts';
import { OWNER } from '../route-options.ts';
import { serverPath } from '../shared/dashboard-paths.ts';
import { deck, deckCard, pageHead } from '../shared/deck.ts';
import { formRoute, type RefusedForm, refused } from '../shared/form-route.ts';
import { pageTimes, time } from '../shared/format.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { sendPage } from '../shared/layout.ts';
import { type ListenerStatus, listenerStatusReader } from '../shared/listener-status.ts';
import { isUnchanged, livePart, markOf, pageState, seenMark, sendUnchanged } from '../shared/live.ts';
import { button, confirmed, facts } from '../shared/parts.ts';
import { timelineList } from '../shared/timeline-list.ts';
import { stateBadge } from '../shared/vote-state.ts';
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
    const shownState = pageState(vote);
    const seen = seenMark(request);
    if (seen && isUnchanged(seen, shownState, now)) return sendUnchanged(reply);
    const status = await statusOf(server._id);
    const timeline = await voteTimeline(deps, vote, status.listener, now);
    const nameOf = await actorNames(deps, server, actorsOf(timeline.events));
    const { state } = vote.delivery;
    const open = state === 'waiting' || state === 'sending';
    const votesPath = serverPath(base, server, '/votes');
    const path = `${votesPath}/${vote._id.toString()}`;
    const body = livePart({
      id: 'vote',
      href: path,
      announcement: t('The vote of {username}: {state}.', {
        username: vote.username,
        state: stateNameOf(vote.delivery),
      }),
      open,
      mark: markOf(shownState, open, now),
      body: deck([
        deckCard({
          title: t('Timeline'),
          columns: 8,
          beside: stateBadge(vote),
          body: [
            statusNotice(timeline, status, now),
            timelineList(ownerEvents(timeline.events, nameOf)),
            resendAction(path, vote, status, now),
          ],
        }),
        deckCard({ title: t('Details'), columns: 4, id: 'vote-details', body: about(vote, timeline.status) }),
      ]),
    });
    const head = pageHead({
      title: html`${t('Vote of <bdi>{username}</bdi>', { username: vote.username })}`,
      text: html`<a href="${votesPath}">${t('All votes')}</a>`,
    });
    return sendPage(request, reply, {
      title: t('Vote of {username} · {server}', { username: vote.username, server: server.name }),
      live: true,
      messages: MESSAGES,
      ...serverFrame({ site: app.site, deps, server, now, part: '/votes', head, body }),
    });
  });

  formRoute(app, {
    path: '/servers/:serverId/votes/:voteId/resend',
    access: OWNER,
    schema: z.object({ twice: z.literal('yes').optional() }),
    run: async ({ request, user, by, path, data: { twice } }) => {
      const { _id } = await voteOf(request);
      const limits = { forOwner: true, onlyOnce: twice === undefined, byId: user._id };
      const resent = await resendVote(deps, _id, by, limits);
      const votePath = `${path('/votes')}/${_id.toString()}`;
      return resent.kind === 'resent' || resent.kind === 'under-way'
        ? `${votePath}?done=${resent.kind satisfies keyof typeof MESSAGES}`
        : notResent(resent);
    },
  });
}

function notResent(resent: Exclude<Resent, { kind: 'resent' | 'under-way' }>): RefusedForm {
  switch (resent.kind) {
    case 'no-listener':
      return refused(409, t('This server has no vote listener. Set one up first.'));
    case 'may-arrive-twice':
    case 'changed':
      return refused(
        409,
        t('This vote may have arrived meanwhile, or a plugin claimed it. Nothing was sent.'),
      );
    case 'imported':
      return refused(409, t('Imported votes are never forwarded.'));
    case 'quarantined':
      return refused(409, t('This vote is quarantined: the operator of this listing decides about it.'));
    case 'too-old':
      return refused(
        409,
        t('You can send votes for {days} days after they were cast. This vote is older.', {
          days: RESENDABLE_DAYS,
        }),
      );
    case 'too-many':
      return refused(
        429,
        t('You can send {times} delivered votes again per hour.', { times: DELIVERED_RESENDS.times }),
        resent.nextAllowedAt,
      );
    case 'not-found':
      return refused(404, t('This server has no vote with this id.'));
  }
}

function about(vote: Vote, status: DeliveryStatus): Html {
  const { _id, votedAt, delivery, source, excludedAt, quarantinedAt } = vote;
  const isDecided = status.state === 'none' && status.why === 'excluded';
  const notCounted =
    quarantinedAt && !isDecided ? t('no: it is quarantined') : excludedAt && t('no: an operator excluded it');
  return facts([
    [t('Cast'), time(votedAt)],
    [t('Attempts'), delivery.attemptCount === 0 ? t('none yet') : String(delivery.attemptCount)],
    [t('Cast with'), source === 'web' ? t('the vote form') : null],
    [t('Identity'), vote.identity ? t('proven: Steam confirmed the SteamID') : null],
    [t('Claimed'), vote.claim ? html`${t('by a plugin, {time}', { time: time(vote.claim.at) })}` : null],
    [t('Counted'), notCounted],
    [t('Vote id'), html`<code>${_id.toString()}</code>`],
  ]);
}

/** The status of a vote's delivery as a sentence; if the vote waits because of its listener, advice for the owner. */
function statusNotice(timeline: VoteTimeline, { queuePaused }: ListenerStatus, now: Date): Content {
  const { status } = timeline;
  const text = statusText(status, pageTimes(now), queuePaused, timeline);
  const advice = status.state === 'waiting' && status.reason?.code ? t(status.reason.advice) : '';
  return html`<p>${text}</p>${advice && html`<p>${advice}</p>`}`;
}

function resendAction(path: string, vote: Vote, { listener }: ListenerStatus, now: Date): Content {
  if (!listener || whyNotResend(vote, now)) return '';
  const isFirst = vote.delivery.attemptCount === 0;
  const text = isFirst ? t('Send vote') : t('Send again');
  const sendButton = (hidden: Record<string, string> = {}) =>
    button({ to: `${path}/resend`, text, kind: 'primary', hidden });
  if (!mayArriveTwice(vote)) return sendButton();
  return confirmed({
    text: t('Send again'),
    consequence: consequenceOf(vote),
    form: sendButton({ twice: 'yes' }),
  });
}

function consequenceOf({ claim, delivery }: Vote): string {
  if (arrivalOf(delivery) === 'arrived')
    return t('This vote was delivered. If you send it again, it arrives twice.');
  if (claim) return t('A plugin claimed this vote. If you send it, its player may be rewarded twice.');
  return t('This vote may have arrived. If you send it again, it may arrive twice.');
}
