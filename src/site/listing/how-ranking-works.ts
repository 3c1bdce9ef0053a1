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

/** `/how-ranking-works`: the formula, and for any server the figures that gave its place. */
export function howRankingWorks(app: FastifyInstance, { platform }: ListingSources): void {
  const { base, name } = app.site;
  app.get(PATH, PUBLIC, (request, reply) => {
    const asked = searchText(queryOf(request).server ?? '');
    const canonical = `${PATH}${queryText({ server: asked })}`;
    return sendPublicPage(request, reply, canonical, async () => {
      const checked = asked ? await check(platform, request, asked) : null;
      return {
        title: 'How the ranking works',
        listed: {
          canonical: PATH,
          description: `How ${name} ranks game servers: votes of ${RANKING_DAYS} days, then uptime, then age. Check any server’s place yourself.`,
        },
        body: html`<h1>How the ranking works</h1>
          ${formula(name)}
          ${card({ title: 'Check a server’s place', id: 'check', body: html`${form(base, asked)} ${checked}` })}`,
      };
    });
  });
}

function formula(name: string): Html {
  return html`<div class="columns">
    ${card({
      title: 'The formula',
      body: html`<p>Every ten minutes all servers are put in this order. Each rule decides only between servers that the rules before it leave equal.</p>
        <ol class="checklist">
          <li><strong>Votes</strong> <span class="soft">More votes stand first. Those of today and the ${RANKING_DAYS - 1} days before count, in UTC.</span></li>
          <li><strong>Uptime</strong> <span class="soft">The share of the last 30 whole days in which our own checks reached the server. Who was never reached by a check stands last; what a server reports of itself does not count here.</span></li>
          <li><strong>Age of the listing</strong> <span class="soft">Who was listed earlier stands first, and the lower id where even that is the same.</span></li>
        </ol>
        <p>Nothing else counts. <strong>Premium</strong> is a mark beside the name: it moves no server by a single place.</p>`,
    })}
    ${card({
      title: 'What does not count',
      body: html`<ul class="checklist">
          <li>A second vote of a player for the same server within 24 hours: it is refused. Names that look the same are the same player.</li>
          <li>Votes that an operator of ${name} excluded, say for being bought or made by a program. Each exclusion is on record with its reason and can be undone.</li>
          <li>Servers that an operator has hidden, or that were removed: they have no place.</li>
          <li>Time in which we could not check, because our own network failed or no check was made: it is neither uptime nor downtime.</li>
        </ul>
        <p class="soft">Whether a vote reached the server’s plugin makes no difference: a vote counts when it is cast.</p>`,
    })}
  </div>`;
}

function form(base: string, asked: string): Html {
  return html`<form method="get" action="${base}${PATH}#check" class="filters" role="search" aria-label="A server’s place">
    ${textField({ name: 'server', label: 'Server', type: 'search', value: asked, maxlength: 100, hint: 'Its name, or the last part of its page’s address.', spellcheck: false })}
    <button type="submit">Check</button>
  </form>`;
}

/** The figures of the server that was asked for, or the servers that may be meant. */
async function check(platform: Platform, request: FastifyRequest, asked: string): Promise<Content> {
  const { base } = request.server.site;
  const named = await findServer(platform, asked);
  if (named && !named.hiddenAt) return explained(base, await explainRank(platform, named));
  const alike = await limitedSearch(platform, request, asked);
  if (alike.length === 0)
    return html`<p role="status">No listed server has a name like “<bdi>${asked}</bdi>”.</p>`;
  return html`<p role="status">Which one?</p>
    <ul class="plain">${alike.map(({ slug, name, place }) => html`<li><a href="${base}${PATH}${queryText({ server: slug })}#check"><bdi>${name}</bdi></a> <span class="soft">rank ${count(place)}</span></li>`)}</ul>`;
}

const WHY: Record<Decider, string> = {
  votes: 'votes',
  uptime: 'uptime; the votes are the same',
  listed: 'the age of the listing; votes and uptime are the same',
  id: 'the lower id; all else is the same',
};

function explained(base: string, explanation: RankExplanation): Html {
  const { server, rankedAt, listed, days, above, below } = explanation;
  const now = days.reduce((sum, { votes }) => sum + votes, 0);
  const counts = server.votesCount ?? 0;
  const since = now === counts ? '' : `By now they are ${count(now)}, which the next ranking counts.`;
  const rows = [above, { ...server, by: null }, below].filter((row) => row !== null);
  return html`<p role="status"><strong><bdi>${server.name}</bdi></strong> has place <strong>${count(server.place)}</strong> of ${count(listed)}.
      ${server.votesCount === null ? 'It was listed since the last ranking and gets its place with the next one.' : html`It had ${counted(counts, 'vote')}${rankedAt ? html` at ${time(rankedAt)}` : ''}. ${since}`}</p>
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
      { title: 'Place', kind: 'number', cell: ({ place }) => count(place) },
      {
        title: 'Server',
        heads: true,
        cell: ({ slug, name }) => html`<a href="${base}/servers/${slug}"><bdi>${name}</bdi></a>`,
      },
      {
        title: `Votes of ${RANKING_DAYS} days`,
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
  return html`<h3>Its votes, day by day</h3>
    ${barChart({
      title: `Votes of the last ${days.length} days`,
      points: days.map((one) => ({ label: shortDay(new Date(one.day)), value: one.votes })),
      shown,
      empty: 'No vote was cast in these days.',
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
