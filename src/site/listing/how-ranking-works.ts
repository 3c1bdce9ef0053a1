import type { FastifyInstance, FastifyRequest } from 'fastify';
import { html } from 'hono/html';
import type { Platform } from '../../process/platform.ts';
import {
  type Decider,
  explainRank,
  type RankExplanation,
  type RankFigures,
} from '../../ranking/explain-rank.ts';
import { findServer } from '../../servers/listing.ts';
import { RANKING_DAYS } from '../../votes/vote-figures.ts';
import { barChart } from '../chart.ts';
import { queryOf, queryText } from '../form.ts';
import type { Content, Html } from '../html.ts';
import { PUBLIC } from '../page-route.ts';
import { card, dataTable, textField } from '../parts.ts';
import { sendPublicPage } from '../public-page.ts';
import { count, counted, day, decimal, shortDay, time } from '../words.ts';
import { limitedSearch } from './limited-search.ts';
import type { ListingSources } from './listing-sources.ts';
import { searchText } from './ranking-query.ts';

const PATH = '/how-ranking-works';

/** `/how-ranking-works`: the formula, and the figures behind any server's rank. */
export function howRankingWorks(app: FastifyInstance, { platform }: ListingSources): void {
  const { base, name } = app.site;
  app.get(PATH, PUBLIC, (request, reply) => {
    const search = searchText(queryOf(request).server ?? '');
    const canonical = `${PATH}${queryText({ server: search })}`;
    return sendPublicPage(request, reply, canonical, async () => {
      const checked = search ? await check(platform, request, search) : null;
      return {
        title: 'How the ranking works',
        listed: {
          canonical: PATH,
          description: `How ${name} ranks game servers: votes of ${RANKING_DAYS} days, then uptime, then age. Check any server’s rank yourself.`,
        },
        body: html`<h1>How the ranking works</h1>
          ${formula(name)}
          ${card({ title: 'Check a server’s rank', id: 'check', body: html`${form(base, search)} ${checked}` })}`,
      };
    });
  });
}

function formula(name: string): Html {
  return html`<div class="columns">
    ${card({
      title: 'The formula',
      body: html`<p>Servers are ranked every ten minutes by these rules. Each rule decides only between servers that are equal by the rules before it.</p>
        <ol class="checklist">
          <li><strong>Votes</strong> <span class="soft">More votes rank higher. Votes of today and the ${RANKING_DAYS - 1} days before count (UTC).</span></li>
          <li><strong>Uptime</strong> <span class="soft">The share of the last 30 full days in which our own checks reached the server. Servers that no check has reached rank last. A server’s own reports do not count.</span></li>
          <li><strong>Age of the listing</strong> <span class="soft">Servers that were listed earlier rank higher; if that is equal too, the lower id ranks higher.</span></li>
        </ol>
        <p id="premium">Nothing else counts. <strong>Premium</strong> is a label beside the name that an operator of ${name} gives to a server. It does not change the rank, and players cannot vote more for it.</p>`,
    })}
    ${card({
      title: 'What does not count',
      body: html`<ul class="checklist">
          <li>A second vote by the same player for the same server within 24 hours. It is refused. Names that look the same count as one player.</li>
          <li>Votes that an operator of ${name} excluded, for example bought or automated votes. Each exclusion is logged with its reason and can be undone.</li>
          <li>Votes of the vote form that look unusual, until an operator releases them. Their players see that.</li>
          <li>Hidden and removed servers. They have no rank.</li>
          <li>Time without checks, for example because our own network failed. It counts neither as uptime nor as downtime.</li>
        </ul>
        <p class="soft">Delivery to the server’s plugin makes no difference: a vote counts when it is cast.</p>`,
    })}
  </div>`;
}

function form(base: string, search: string): Html {
  return html`<form method="get" action="${base}${PATH}#check" class="filters" role="search" aria-label="A server’s rank">
    ${textField({ name: 'server', label: 'Server', type: 'search', value: search, maxlength: 100, hint: 'Name, or the last part of the page’s address.', spellcheck: false })}
    <button type="submit">Check</button>
  </form>`;
}

/** The figures of the server that was searched for, or a list of similar names. */
async function check(platform: Platform, request: FastifyRequest, search: string): Promise<Content> {
  const { base } = request.server.site;
  const named = await findServer(platform, search);
  if (named && !named.hiddenAt) return explained(base, await explainRank(platform, named));
  const alike = await limitedSearch(platform, request, search);
  if (alike.length === 0)
    return html`<p role="status">No listed server has a name like “<bdi>${search}</bdi>”.</p>`;
  return html`<p role="status">Choose a server:</p>
    <ul class="plain">${alike.map(({ slug, name, place }) => html`<li><a href="${base}${PATH}${queryText({ server: slug })}#check"><bdi>${name}</bdi></a> <span class="soft">rank ${count(place)}</span></li>`)}</ul>`;
}

const WHY: Record<Decider, string> = {
  votes: 'votes',
  uptime: 'uptime (equal votes)',
  listed: 'age of the listing (equal votes and uptime)',
  id: 'lower id (all else equal)',
};

function explained(base: string, explanation: RankExplanation): Html {
  const { server, rankedAt, listed, days, above, below } = explanation;
  const now = days.reduce((sum, { votes }) => sum + votes, 0);
  const counts = server.votesCount ?? 0;
  const since = now === counts ? '' : `It has ${count(now)} now; the next ranking counts them.`;
  const rows = [above, { ...server, by: null }, below].filter((row) => row !== null);
  return html`<p role="status"><strong><bdi>${server.name}</bdi></strong> has rank <strong>${count(server.place)}</strong> of ${count(listed)}.
      ${server.votesCount === null ? 'It was listed after the last ranking and gets its rank with the next one.' : html`It had ${counted(counts, 'vote')}${rankedAt ? html` at ${time(rankedAt)}` : ''}. ${since}`}</p>
    ${neighbours(base, server, rows)}
    ${votesByDay(days)}`;
}

type Neighbour = RankFigures & { by: Decider | null };

function neighbours(base: string, server: RankFigures, rows: Neighbour[]): Html {
  return dataTable<Neighbour>({
    caption: 'The server and its neighbours in the ranking',
    rows,
    empty: '',
    columns: [
      { title: 'Rank', kind: 'number', cell: ({ place }) => count(place) },
      {
        title: 'Server',
        heads: true,
        cell: ({ slug, name }) => html`<a href="${base}/servers/${slug}"><bdi>${name}</bdi></a>`,
      },
      {
        title: `Votes in ${RANKING_DAYS} days`,
        kind: 'number',
        cell: ({ votesCount }) => (votesCount === null ? '–' : count(votesCount)),
      },
      {
        title: 'Uptime',
        kind: 'number',
        cell: ({ probedUptime }) => (probedUptime === null ? 'none' : `${decimal(probedUptime)} %`),
      },
      { title: 'Listed', cell: ({ listedAt }) => day(listedAt) },
      {
        title: 'Decided by',
        cell: ({ by, place }) =>
          by === null
            ? html`<span class="soft">this server</span>`
            : `${place < server.place ? 'above' : 'below'} by ${WHY[by]}`,
      },
    ],
  });
}

function votesByDay(days: RankExplanation['days']): Html {
  const shown = (value: number) => count(Math.round(value));
  return html`<h3>Votes per day</h3>
    ${barChart({
      title: `Votes in the last ${days.length} days`,
      points: days.map((one) => ({ label: shortDay(new Date(one.day)), value: one.votes })),
      shown,
      empty: 'No votes in this period.',
      numbers: dataTable({
        caption: 'Votes by UTC day',
        rows: days,
        empty: '',
        columns: [
          { title: 'Day', heads: true, cell: (one) => day(new Date(one.day)) },
          { title: 'Votes', kind: 'number', cell: ({ votes }) => count(votes) },
        ],
      }),
    })}`;
}
