import type { FastifyInstance } from 'fastify';
import type { WithId } from 'mongodb';
import { type ListenerView, showListener } from '../../delivery/change-listener.ts';
import { isProbed } from '../../games/games.ts';
import { serverInfo } from '../../history/server-info.ts';
import { defineMessage, t } from '../../language/t.ts';
import { readAnswered } from '../../reviews/read-reviews.ts';
import { isValid, listTokens } from '../../servers/api-tokens.ts';
import type { Server } from '../../servers/server.ts';
import { serverOf } from '../guard-routes.ts';
import { OWNER } from '../route-options.ts';
import { serverPath } from '../shared/dashboard-paths.ts';
import { counted, decimal, timeAgo } from '../shared/format.ts';
import { gameName } from '../shared/game-names.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { sendPage } from '../shared/layout.ts';
import { lastVoteText, listenerBadge } from '../shared/listener-state-parts.ts';
import { card, copyable, facts } from '../shared/parts.ts';
import { hasAbout } from '../shared/profile-parts.ts';
import { serverFigures } from '../shared/server-figures.ts';
import { serverAddress } from '../shared/server-status.ts';
import { shareCard } from '../shared/share-card.ts';
import type { DashboardParts } from './dashboard-parts.ts';
import { serverFrame } from './server-frame.ts';

const MESSAGES = {
  listed: defineMessage('Server listed. It has the last rank until its first votes.'),
  moved: defineMessage('The server has its new address.'),
};

/** `/dashboard/servers/<id>`: a server's key figures and next steps. */
export function overviewPage(app: FastifyInstance, { deps }: DashboardParts): void {
  const { base } = app.site;
  app.get('/servers/:serverId', OWNER, async (request, reply) => {
    const server = serverOf(request);
    const now = deps.clock.now();
    const [info, listener, tokens, reviews] = await Promise.all([
      serverInfo(deps, server),
      showListener(deps, server._id),
      listTokens(deps, server._id),
      readAnswered(deps, server._id, { page: 1, limit: 1 }),
    ]);
    const hasToken = tokens.some((token) => isValid(token, now));
    const open = (part: string) => html`<a href="${serverPath(base, server, part)}">${t('Open')}</a>`;
    const body = html`<section class="card">${serverFigures(info, { game: server.game })}</section>
      ${nextSteps(base, server, hasToken, listener)}
      <div class="columns">
        ${card({ title: t('Vote listener'), actions: open('/listener'), body: listenerLine(listener, now) })}
        ${card({ title: t('Reviews'), actions: open('/reviews'), body: reviewLine(reviews) })}
      </div>
      ${card({ title: t('The server'), body: about(server, now) })}
      ${server.hiddenAt ? '' : shareCard(app.site, server)}`;
    return sendPage(request, reply, {
      title: server.name,
      messages: MESSAGES,
      ...serverFrame({ site: app.site, server, now, part: '', body }),
    });
  });
}

function nextSteps(
  base: string,
  server: WithId<Server>,
  hasToken: boolean,
  listener: ListenerView | null,
): Content {
  const steps = [
    {
      done: hasAbout(server.profile ?? {}) || Boolean(server.profile?.shortText),
      part: '/profile',
      text: t('Describe the server'),
      why: t('Texts, tags and a banner make players choose it.'),
    },
    {
      done: hasToken,
      part: '/tokens',
      text: t('Create an API token'),
      why: t('Your website or plugin uses it to cast votes.'),
    },
    {
      done: listener !== null,
      part: '/listener',
      text: t('Set up the vote listener'),
      why: t('We forward votes to it, so that players get their rewards.'),
    },
    {
      done: Boolean(listener?.lastDeliveredAt),
      part: '/listener',
      text: t('Send a test vote'),
      why: t('Shows step by step whether votes arrive. Done when the first vote is delivered.'),
    },
  ];
  if (steps.every(({ done }) => done)) return '';
  return card({
    title: t('Next steps'),
    body: html`<ol class="checklist">
      ${steps.map(
        ({ done, part, text, why }) => html`<li class="${done ? 'done' : ''}">
          ${
            done
              ? html`<span>${text} <span class="soft">${t('– done')}</span></span>`
              : html`<span><a href="${serverPath(base, server, part)}">${text}</a></span>
                <span class="soft small">${why}</span>`
          }
        </li>`,
      )}
    </ol>`,
  });
}

function listenerLine(listener: ListenerView | null, now: Date): Html {
  if (!listener)
    return html`<p class="soft">${t('No vote listener. Votes are counted, and you can send them later.')}</p>`;
  const { waiting } = listener;
  const waitingText =
    waiting > 0 ? t('{votes} waiting.', { votes: counted(waiting, 'vote') }) : t('No votes are waiting.');
  return html`<p>${listenerBadge(listener, now)} ${waitingText} ${lastVoteText(listener, now)}</p>`;
}

function reviewLine({ reviewCount, averageRating }: { reviewCount: number; averageRating: number }): Html {
  if (reviewCount === 0) return html`<p class="soft">${t('No public reviews yet.')}</p>`;
  const average = t('{reviews}, {averageRating} of 5 stars on average.', {
    reviews: counted(reviewCount, 'review'),
    averageRating: decimal(averageRating),
  });
  return html`<p>${average}</p>`;
}

const OWNERSHIP_PROOF_TEXTS = {
  message: defineMessage('by its message'),
  dns: defineMessage('by its DNS record'),
  operator: defineMessage('by an operator of this listing'),
} as const;

function gameText(game: string | null | undefined): string {
  const name = gameName(game) || t('none');
  return isProbed(game) ? name : t('{game} (not probed: status from reports only)', { game: name });
}

function about(server: WithId<Server>, now: Date): Html {
  const { current, proof, listedAt, game } = server;
  return html`${facts([
    [t('Address'), html`<span class="mono">${serverAddress(server)}</span>`],
    [t('Game'), gameText(game)],
    [t('Version'), current.version],
    [t('Last checked'), current.checkedAt ? timeAgo(current.checkedAt, now) : t('not yet')],
    [t('Listed'), timeAgo(listedAt, now)],
    [
      t('Ownership verified'),
      proof ? html`${t(OWNERSHIP_PROOF_TEXTS[proof.method])}, ${timeAgo(proof.at, now)}` : undefined,
    ],
  ])}
  <div>
    <p class="soft small">${t('Server id for plugins and the API')}</p>
    ${copyable(server._id.toHexString(), t('the server id'))}
  </div>`;
}
