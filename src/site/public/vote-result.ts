import type { FastifyInstance, FastifyRequest } from 'fastify';
import { UUID, type WithId } from 'mongodb';
import { ESTABLISHED_AFTER_DAYS } from '../../accounts/mailbox.ts';
import type { DeliveryStatus } from '../../delivery/timeline/timeline-event.ts';
import { voteTimeline } from '../../delivery/timeline/vote-timeline.ts';
import { nameKindOfServer } from '../../games/player-names.ts';
import { type GoalProgress, goalOf } from '../../goals/goal-progress.ts';
import { t } from '../../language/t.ts';
import { rewardsOf } from '../../listeners/listener.ts';
import type { Config } from '../../platform/config.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import { type ServerAbove, serverAbove } from '../../ranking/picked-servers.ts';
import { hasClaimKeys } from '../../servers/api-tokens.ts';
import type { Server } from '../../servers/server.ts';
import { causeOf } from '../../votes/exclusions/quarantine.ts';
import type { QuarantineCause } from '../../votes/exclusions/vote-exclusion.ts';
import { RANKING_DAYS } from '../../votes/ranking-period.ts';
import type { Vote } from '../../votes/vote.ts';
import { voteFigures } from '../../votes/vote-figures.ts';
import { type VoteStreak, voteStreak } from '../../votes/vote-streak.ts';
import { PageError } from '../error-pages.ts';
import { ANYONE } from '../route-options.ts';
import type { Site } from '../shared/decorate-site.ts';
import { count, counted, decimal } from '../shared/format.ts';
import { colourClasses, initials } from '../shared/generated-pictures.ts';
import { goalPart } from '../shared/goal-parts.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { icon } from '../shared/icon.ts';
import { type Page, sendPage } from '../shared/layout.ts';
import { isUnchanged, livePart, markOf, pageState, seenMark, sendUnchanged } from '../shared/live.ts';
import { linkTo } from '../shared/parts.ts';
import { publicPath } from '../shared/server-paths.ts';
import { writtenLine } from '../shared/written-text.ts';
import { type OtherServers, otherServers, readOtherServers } from './other-servers.ts';
import { type ReminderWays, readReminderWays, reminderParts } from './reminder-part.ts';
import { followingRenames, serverByCurrentSlug, slugOfRequest } from './server-of-path.ts';
import { deliveryIcon, isOpen, playerText } from './vote-delivery.ts';
import { nextVotePanel, sign, stamp, streakPanel } from './vote-panels.ts';

/** The live part, which refreshes itself. */
type VoteState = {
  server: WithId<Server>;
  vote: Vote;
  status: DeliveryStatus;
  /** The vote is not sent, because plugins claim the server's votes. */
  isCollected: boolean;
  heldFor: QuarantineCause | undefined;
  monthlyVotes: number;
  /** The server's votes in the last 30 days. */
  votesCount: number;
  above: ServerAbove | null;
  /** `pageState` of live.ts. */
  state: string;
  now: Date;
};

/** The rest of the page, which is not refreshed. */
type Around = {
  streak: VoteStreak;
  others: OtherServers;
  goal: GoalProgress | null;
  reminders: ReminderWays;
};

/** `/servers/<slug>/vote/<vote id>`: the result of a vote and the state of its delivery. */
export function voteResultPage(app: FastifyInstance, deps: AppDeps): void {
  const { config } = deps;
  app.get('/servers/:slug/vote/:voteId', ANYONE, (request, reply) =>
    followingRenames(request, reply, async () => {
      const server = await serverByCurrentSlug(deps, slugOfRequest(request));
      const vote = await voteOf(deps, request, server);
      const shown = await readState(deps, server, vote);
      const seen = seenMark(request);
      if (seen && isUnchanged(seen, shown.state, shown.now)) return sendUnchanged(reply);
      // If htmx refreshes the live part, it uses only this part of the answer, so the rest is not read.
      if (request.headers['hx-request'])
        return sendPage(request, reply, resultPage(app.site, config, shown, null));
      await app.limitPages(request);
      const [streak, others, goal, reminders] = await Promise.all([
        voteStreak(deps, server, vote.username),
        readOtherServers(deps, request, server),
        goalOf(deps, server),
        readReminderWays(deps, request),
      ]);
      const around = { streak, others, goal, reminders };
      return sendPage(request, reply, resultPage(app.site, config, shown, around));
    }),
  );
}

async function readState(deps: AppDeps, server: WithId<Server>, vote: Vote): Promise<VoteState> {
  const now = deps.clock.now();
  const listener = await deps.listeners.findOne({ serverId: server._id });
  const [{ status }, votesOfMonth, written, heldFor, above] = await Promise.all([
    voteTimeline(deps, vote, listener, now),
    deps.voteCounts.ofMonth(server._id, now),
    voteFigures(deps, server._id),
    vote.quarantinedAt ? causeOf(deps, vote) : undefined,
    serverAbove(deps, server),
  ]);
  const monthlyVotes = votesOfMonth();
  // `monthlyVotes` also counts votes whose counters are not written yet, such as this vote; `written` does not.
  const votesCount = written.votesCount + Math.max(0, monthlyVotes - written.monthlyVotes);
  const ranking = [server.ranked?.rankVotes, server.rankPosition, votesCount, above];
  const state = pageState(status, vote.quarantinedAt, vote.excludedAt, vote.claim, monthlyVotes, ranking);
  const isCollected =
    isUnsent(status) && rewardsOf(listener) === 'claims' && (await hasClaimKeys(deps, server._id));
  return { server, vote, status, isCollected, heldFor, monthlyVotes, votesCount, above, state, now };
}

const isUnsent = (status: DeliveryStatus) => status.state === 'none' && status.why === 'no-listener';

async function voteOf(deps: AppDeps, request: FastifyRequest, server: WithId<Server>): Promise<Vote> {
  const { voteId } = request.params as { voteId: string };
  const vote = UUID.isValid(voteId)
    ? await deps.votes.findOne({ _id: new UUID(voteId), serverId: server._id })
    : null;
  if (!vote) throw new PageError(404, t('This server has no such vote.'));
  return vote;
}

function resultPage(site: Site, config: Config, result: VoteState, around: Around | null): Page {
  const { server, vote, now } = result;
  const { username } = vote;
  const voted = around ? html`data-voted="${JSON.stringify(toRemember(site, result, around))}"` : '';
  return {
    title: t('Your vote for {server}', { server: server.name }),
    width: 'full',
    styles: ['public.css'],
    scripts: ['voted.js', 'reminders.js'],
    live: true,
    body: html`<div class="done" ${voted}>
      ${stamp(site, server, stateOfVote(site, result))}
      ${
        around
          ? html`${around.goal ? html`<section class="panel goal-panel">${goalPart(around.goal)}</section>` : ''}
          ${streakPanel(around.streak)}
          ${nextVotePanel(site, server, { nextVoteAt: around.streak.nextVoteAt, username, now })}
          ${reminderParts(site, around.reminders, { next: pathOfVote(site, result), vote: vote._id.toString() })}
          ${otherServers(site, config, around.others)}`
          : ''
      }</div>`,
  };
}

/** Stored in the browser by a script. The pictures are for the list of other servers (voted.js). */
function toRemember({ base }: Site, { server, vote }: VoteState, { streak }: Around) {
  const { banner, icon: picture } = server.profile ?? {};
  const at = (id: string | null | undefined) => (id ? `${base}/pictures/${id}.webp` : null);
  return {
    path: `${base}${publicPath(server)}`,
    name: server.name,
    kind: nameKindOfServer(server),
    username: vote.username,
    vote: vote._id.toString(),
    next: streak.nextVoteAt?.toISOString() ?? null,
    banner: at(banner?.narrow),
    icon: at(picture?.picture),
    look: colourClasses(server),
    initials: initials(server.name),
  };
}

function pathOfVote({ base }: Site, { server, vote }: VoteState): string {
  return `${base}${publicPath(server, `/vote/${vote._id.toString()}`)}`;
}

function stateOfVote(site: Site, result: VoteState): Html {
  const { vote, status, isCollected, state, now } = result;
  const sentence = playerText(status, vote, now, isCollected);
  const open = isOpen(status);
  const counts = !vote.quarantinedAt && !vote.excludedAt;
  const delivery =
    !counts && status.state === 'none'
      ? ''
      : html`<p class="arrived ${open ? '' : 'settled'}">${icon(deliveryIcon(status))} ${sentence}</p>`;
  return livePart({
    id: 'delivery',
    href: pathOfVote(site, result),
    announcement: sentence,
    open,
    ...(open ? { mark: markOf(state, open, now) } : {}),
    body: html`${verdict(result)}${delivery}${counts ? rankLine(site, result) : ''}`,
  });
}

function verdict({ vote, status, server, heldFor }: VoteState): Html {
  const player = writtenLine(vote.username);
  if (vote.quarantinedAt && status.state === 'none' && status.why === 'quarantined') {
    const held = t(
      'Your vote is stored, but does not count yet: an operator of this listing checks it. If the operator accepts it, it counts, and the game server can reward it.',
    );
    return html`${sign('clock')}<h1 tabindex="-1">${t('Your vote waits for a check, {player}.', { player })}</h1>
      <p class="why">${held} ${heldText(server, heldFor)}</p>`;
  }
  if (vote.quarantinedAt || vote.excludedAt)
    return html`${sign('cross')}<h1 tabindex="-1">${t('Your vote does not count, {player}.', { player })}</h1>
      <p class="why">${t('An operator of this listing has excluded it.')}</p>`;
  return html`${sign('tick')}<h1 tabindex="-1">${t('Your vote counts, {player}.', { player })}</h1>`;
}

function rankLine(site: Site, result: VoteState): Html {
  const { base } = site;
  const { above } = result;
  const ahead = above
    ? t('<a>{server}</a> is {votes} ahead.', {
        a: linkTo(`${base}${publicPath(above)}`),
        server: html`<bdi>${above.name}</bdi>`,
        votes: counted(above.votesAhead, 'vote'),
      })
    : '';
  return html`<p class="rank-line">${votesText(site, result)} ${ahead}</p>`;
}

/** In the last 30 days. Before the first ranking: in this month. */
function votesText({ base }: Site, { server, monthlyVotes, votesCount }: VoteState): Html {
  const named = { a: linkTo(`${base}${publicPath(server)}`), server: html`<bdi>${server.name}</bdi>` };
  const { ranked } = server;
  if (!ranked)
    return t('<a>{server}</a> has {votes} this month.', { ...named, votes: counted(monthlyVotes, 'vote') });
  const figures = { votes: counted(votesCount, 'vote'), rank: count(server.rankPosition) };
  if (typeof ranked.rankVotes !== 'number')
    return t('<a>{server}</a> has {votes} in {days} days and rank {rank}.', {
      days: RANKING_DAYS,
      ...named,
      ...figures,
    });
  return t(
    '<a>{server}</a> has {votes} in {days} days, which <a2>count as {rankVotes} for the rank</a2>, and rank {rank}.',
    {
      days: RANKING_DAYS,
      ...named,
      ...figures,
      rankVotes: decimal(ranked.rankVotes),
      a2: linkTo(`${base}/how-ranking-works#weight`),
    },
  );
}

function heldText({ name }: Server, heldFor: QuarantineCause | undefined): Content {
  const server = name;
  switch (heldFor) {
    case 'network':
      return t(
        'The reason is your network: more new players than usual voted from it. Votes count at once if you sign in with an account that is older than {days} days, or if you vote an hour later, or tomorrow (UTC), and fewer new players vote before you.',
        { days: ESTABLISHED_AFTER_DAYS },
      );
    case 'neighbourhood':
      return t(
        'The reason is your provider’s network: many new players from it vote for <bdi>{server}</bdi> now. Votes count at once if you sign in with an account that is older than {days} days, or in some hours.',
        { days: ESTABLISHED_AFTER_DAYS, server },
      );
    case 'mail-domain':
      return t(
        'The reason is the mail domain of your account: many new players with it vote for <bdi>{server}</bdi> now. Your votes count again in some hours.',
        { server },
      );
    case undefined:
      return '';
    case 'new-players':
      return t(
        'This is not because of you: many new players are voting for <bdi>{server}</bdi> now. Votes of players who voted for it before are not held, and votes from an account that is older than {days} days are held less often.',
        { days: ESTABLISHED_AFTER_DAYS, server },
      );
  }
}
