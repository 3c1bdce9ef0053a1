import type { FastifyInstance } from 'fastify';
import { UUID, type WithId } from 'mongodb';
import { statusText } from '../../delivery/timeline/status-text.ts';
import type { DeliveryStatus, VoteTimeline } from '../../delivery/timeline/timeline-event.ts';
import { voteTimeline } from '../../delivery/timeline/vote-timeline.ts';
import { readQueuePaused } from '../../process/redis-queues.ts';
import type { ApiToken } from '../../servers/api-token.ts';
import type { Server } from '../../servers/server.ts';
import { isImported, type Vote } from '../../votes/vote.ts';
import { findVote } from '../../votes/vote-list.ts';
import { PageError } from '../error-pages.ts';
import { OPERATOR } from '../route-options.ts';
import { pageHead } from '../shared/deck.ts';
import { queryText } from '../shared/form.ts';
import { pageTimes, time } from '../shared/format.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { sendPage } from '../shared/layout.ts';
import { card, facts } from '../shared/parts.ts';
import { timelineList } from '../shared/timeline-list.ts';
import { stateBadge } from '../shared/vote-state.ts';
import { type AdminParts, adminPage, adminPath, serverLink } from './admin-frame.ts';
import { blockPath } from './block-pages.ts';

export function adminVotePage(app: FastifyInstance, { deps }: AdminParts): void {
  const { base } = app.site;

  app.get('/votes/:voteId', OPERATOR, async (request, reply) => {
    const { voteId } = request.params as { voteId: string };
    const vote = UUID.isValid(voteId) ? await findVote(deps, new UUID(voteId)) : null;
    if (!vote) throw new PageError(404, 'This vote does not exist.');
    const { serverId, tokenId } = vote;
    const [server, listener, token, paused] = await Promise.all([
      deps.servers.findOne({ _id: serverId }),
      deps.listeners.findOne({ serverId }),
      tokenId ? deps.apiTokens.findOne({ _id: tokenId, serverId }) : null,
      readQueuePaused(deps),
    ]);
    const now = deps.clock.now();
    const timeline = await voteTimeline(deps, vote, listener, now);
    const ofPlayer = queryText({ server: serverId.toHexString(), player: vote.username });
    const votes = adminPath(base, `/votes${ofPlayer}`);
    const page = adminPage({
      base,
      part: '/votes',
      title: `Vote of ${vote.username}`,
      head: pageHead({
        title: html`Vote of <bdi>${vote.username}</bdi>`,
        actions: html`${stateBadge(vote)}<a class="button quiet" href="${votes}">Votes of this player</a>${actions(base, vote)}`,
      }),
      body: html`${card({
        title: 'Details',
        body: about({ base, vote, server, token, timeline, queuePaused: paused, now }),
      })}
          ${card({ title: 'Timeline', body: timelineList(timeline.events) })}`,
    });
    return sendPage(request, reply, page);
  });
}

function actions(base: string, { serverId, username }: Vote): Html {
  const exclude = queryText({ player: username, server: serverId.toHexString() });
  const path = adminPath(base, `/votes/exclude-player${exclude}`);
  return html`<a class="button quiet" href="${path}">Exclude this player’s votes…</a>
    <a class="button quiet" href="${blockPath(base, 'name', username)}">Block the name…</a>`;
}

type Shown = {
  base: string;
  vote: Vote;
  server: WithId<Server> | null;
  token: ApiToken | null;
  timeline: VoteTimeline;
  /** null if Redis does not answer. */
  queuePaused: boolean | null;
  now: Date;
};

function about({ base, vote, server, token, timeline, queuePaused, now }: Shown): Html {
  const { _id, votedAt, delivery, claim, cooldownEndedAt } = vote;
  return facts([
    ['Server', server ? serverLink(base, server) : vote.serverId.toHexString()],
    ['Cast', time(votedAt)],
    ['Cast with', castWith(vote, token)],
    ['Counts', countsText(vote)],
    ['Delivery', statusText(timeline.status, pageTimes(now), queuePaused, timeline)],
    ['Queue', queuePaused ? pausedText(base, timeline.status) : null],
    ['Attempts', String(delivery.attemptCount)],
    ['Claimed', claim ? html`by a plugin, ${time(claim.at)}` : null],
    ['Cooldown ended early', cooldownEndedAt ? time(cooldownEndedAt) : null],
    ['Vote id', html`<code>${_id.toString()}</code>`],
  ]);
}

function pausedText(base: string, status: DeliveryStatus): Content {
  if (status.state !== 'waiting' || status.fetched) return null;
  return html`A delivery queue is paused: votes may wait until it is resumed on the
    <a href="${adminPath(base, '/queues')}">queue board</a>.`;
}

function castWith(vote: Vote, token: ApiToken | null): Content {
  if (isImported(vote)) return 'imported';
  if (vote.identity) return 'the vote form, by the player whose SteamID Steam confirmed';
  if (vote.source === 'web') return 'the vote form';
  return token ? html`the API token <bdi>${token.name}</bdi>` : 'an API token that is unknown';
}

function countsText({ excludedAt, quarantinedAt }: Vote): Content {
  if (!excludedAt) return 'yes';
  return html`no: ${quarantinedAt ? 'held back' : 'excluded'} ${time(excludedAt)}`;
}
