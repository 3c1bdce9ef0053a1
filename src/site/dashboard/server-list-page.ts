import type { FastifyInstance } from 'fastify';
import type { ObjectId, WithId } from 'mongodb';
import type { User } from '../../accounts/user.ts';
import { playersHidden, statusAt } from '../../history/current-status.ts';
import { defineMessage, t } from '../../language/t.ts';
import { addDays, dayOf } from '../../platform/periods/period-marks.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import { ranksAfter } from '../../ranking/rank-snapshots.ts';
import { AN_OPERATOR } from '../../servers/actor-names.ts';
import { claimedServers } from '../../servers/api-tokens.ts';
import { listDrafts } from '../../servers/drafts.ts';
import { invitationsOf, serversOfUser } from '../../servers/members.ts';
import type { Server } from '../../servers/server.ts';
import { RANKING_DAYS } from '../../votes/ranking-period.ts';
import { votesByDayOfAll } from '../../votes/vote-figures.ts';
import { userOf } from '../guard-routes.ts';
import { SIGNED_IN } from '../route-options.ts';
import { contactText } from '../shared/contact.ts';
import { pageHead } from '../shared/deck.ts';
import { count, unit } from '../shared/format.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { icon } from '../shared/icon.ts';
import { sendPage } from '../shared/layout.ts';
import { button } from '../shared/parts.ts';
import { picturedServer, serverIcon } from '../shared/server-pictures.ts';
import type { DashboardParts } from './dashboard-parts.ts';
import { firstSteps } from './first-steps.ts';
import { ROLE_TEXTS } from './member-cards.ts';
import { addCard, draftCard, type OwnServer, RANK_CHANGE_DAYS, serverCard } from './server-cards.ts';
import { needsOwner, remarksOf } from './server-remarks.ts';
import { readTodos } from './server-todo.ts';

const MESSAGES = {
  discarded: defineMessage('Draft discarded.'),
  removed: defineMessage('Server removed.'),
  declined: defineMessage('Invitation declined.'),
  left: defineMessage('You are no longer a member of this server.'),
};

/** `/dashboard`: the user's servers and drafts. */
export function serverListPage(app: FastifyInstance, { deps }: DashboardParts): void {
  const { base } = app.site;

  app.get('/', SIGNED_IN, async (request, reply) => {
    const user = userOf(request);
    const now = deps.clock.now();
    const [own, drafts, invitations] = await Promise.all([
      readOwnServers(deps, base, user._id),
      listDrafts(deps, user._id),
      invitationsOf(deps, user),
    ]);
    const isFirst = own.length === 0 && drafts.length === 0;
    const add = html`<a class="button" href="${base}/dashboard/servers/new">${icon('plus')} ${t('Add a server')}</a>`;
    return sendPage(request, reply, {
      title: t('Your servers'),
      messages: MESSAGES,
      styles: ['work.css'],
      body: html`${pageHead({ title: t('Your servers'), ...(isFirst ? {} : { actions: add }) })}
        ${own.length === 0 ? '' : sums(own, now)}
        ${invitations.map((one) => invitationCard(base, one))}
        ${unconfirmedText(app.site, deps, user)}
        <ul class="fleet">
          ${own.map((one) => serverCard(base, one, user._id, now))}
          ${drafts.map((draft) => draftCard(base, draft))}
          ${addCard(app.site, isFirst)}
        </ul>`,
    });
  });
}

/** Those that need their owner first, broken ones before others. */
async function readOwnServers(deps: AppDeps, base: string, userId: ObjectId): Promise<OwnServer[]> {
  const now = deps.clock.now();
  const servers = await serversOfUser(deps, userId);
  if (servers.length === 0) return [];
  const ids = servers.map(({ _id }) => _id);
  const [todoOf, votesOf, ranks, claimed] = await Promise.all([
    readTodos(deps, servers),
    votesByDayOfAll(deps, ids, RANKING_DAYS),
    ranksAfter(deps, ids, addDays(dayOf(now), -RANK_CHANGE_DAYS)),
    claimedServers(deps, ids),
  ]);
  const own = servers.map((server) => {
    const id = server._id.toHexString();
    const votes = votesOf(server._id).map((day) => day.votes);
    const todo = todoOf(server._id);
    const isClaimed = claimed.has(id);
    const steps = firstSteps(base, server, todo, { hasVotes: votes.some(Boolean), isClaimed, now });
    const remarks = remarksOf(base, server, todo, { steps, isClaimed, now });
    return { server, votes, rankBefore: ranks.get(id), remarks };
  });
  const urgency = ({ remarks }: OwnServer) =>
    remarks.some(({ tone }) => tone === 'bad') ? 0 : remarks.some(needsOwner) ? 1 : 2;
  return own.toSorted((one, other) => urgency(one) - urgency(other));
}

function sums(own: OwnServer[], now: Date): Html {
  const votes = own.reduce((sum, one) => sum + one.votes.reduce((of, day) => of + day, 0), 0);
  const players = own.reduce((sum, { server }) => sum + playersIn(server, now), 0);
  const waiting = own.filter(({ remarks }) => remarks.some(needsOwner)).length;
  const b = (text: Html) => html`<b>${text}</b>`;
  return html`<ul class="sums">
    <li><b>${count(own.length)}</b> ${unit(own.length, 'server')}</li>
    <li>${t('<b>{votes}</b> votes in {days} days', { b, votes: count(votes), days: RANKING_DAYS })}</li>
    <li>${t('<b>{players}</b> playing now', { b, players: count(players) })}</li>
    ${
      waiting === 0
        ? ''
        : html`<li class="attention">${t(
            '<b>{servers}</b> {number, plural, one {needs something from you} other {need something from you}}',
            { number: waiting, servers: count(waiting), b },
          )}</li>`
    }</ul>`;
}

function playersIn(server: WithId<Server>, now: Date): number {
  const isKnown = statusAt(server, now) === 'online' && !playersHidden(server.current);
  return isKnown ? server.current.onlinePlayers : 0;
}

/** Without SMTP, users cannot confirm their addresses. */
function unconfirmedText(
  site: FastifyInstance['site'],
  { config }: AppDeps,
  { emailVerified }: Pick<User, 'emailVerified'>,
): Content {
  if (emailVerified || config.SMTP_URL === undefined) return '';
  const text = t('Your e-mail address is not confirmed, so invitations to servers are not shown.');
  return html`<p class="soft">${text} ${contactText(site)}</p>`;
}

type Invitation = Awaited<ReturnType<typeof invitationsOf>>[number];

function invitationCard(base: string, { server, role, by }: Invitation): Html {
  const path = `${base}/dashboard/invitations/${server._id.toHexString()}`;
  const sentence = t('{by} invites you to manage <bdi>{server}</bdi> ({role}).', {
    by: by === AN_OPERATOR ? t(AN_OPERATOR) : by,
    server: server.name,
    role: t(ROLE_TEXTS[role]),
  });
  return html`<section class="invite">${serverIcon(base, picturedServer(server), 56)}
    <div><h2>${t('Invitation')}</h2><p>${sentence}</p></div>
    <div class="actions">
      ${button({ to: `${path}/accept`, text: t('Accept'), kind: 'primary', of: server.name })}
      ${button({ to: `${path}/decline`, text: t('Decline'), of: server.name })}
    </div></section>`;
}
