import type { FastifyInstance, FastifyRequest } from 'fastify';
import { UPTIME_DAYS } from '../../history/daily-figures.ts';
import { defineMessage, type Text, t } from '../../language/t.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import { firstWeighedDay } from '../../ranking/evidence/due-days.ts';
import { sumOfDays } from '../../ranking/evidence/rank-votes.ts';
import {
  type DecidingFigure,
  explainRank,
  type RankExplanation,
  type RankFigures,
} from '../../ranking/explain-rank.ts';
import { searchText } from '../../ranking/search-text.ts';
import { findServer } from '../../servers/listed-servers.ts';
import { COOLDOWN_HOURS } from '../../votes/cast/cooldown.ts';
import { RANKING_DAYS, RANKS_EVERY_MINUTES } from '../../votes/ranking-period.ts';
import { CACHED } from '../route-options.ts';
import { sendPublicPage } from '../send-public-page.ts';
import { barChart } from '../shared/chart.ts';
import { queryOf, queryText } from '../shared/form.ts';
import { count, counted, day, decimal, shortDay, time } from '../shared/format.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { card, dataTable, linkTo, textField } from '../shared/parts.ts';
import { rankDayColumns } from '../shared/rank-votes-tables.ts';
import { limitedSearch } from './limited-search.ts';
import { ruleItem, voteWeights } from './vote-weights.ts';

const PATH = '/how-ranking-works';

export function howRankingWorks(app: FastifyInstance, deps: AppDeps): void {
  const { base } = app.site;
  app.get(PATH, CACHED, (request, reply) => {
    const search = searchText(queryOf(request).server ?? '');
    const canonical = `${PATH}${queryText({ server: search })}`;
    return sendPublicPage(request, reply, canonical, async () => {
      const { name } = app.site;
      const [checked, first] = await Promise.all([
        search ? check(deps, request, search) : null,
        firstWeighedDay(deps),
      ]);
      return {
        title: t('How the ranking works'),
        scripts: ['charts.js'],
        metadata: {
          canonical: PATH,
          description: t(
            'How {name} ranks game servers: votes of {days} days, then uptime, then age. Check any server’s rank yourself.',
            { name, days: RANKING_DAYS },
          ),
        },
        body: html`<h1>${t('How the ranking works')}</h1>
          ${formula(name)}
          ${voteWeights(first)}
          ${card({ title: t('Check a server’s rank'), id: 'check', body: html`${form(base, search)} ${checked}` })}`,
      };
    });
  });
}

function formula(name: string): Html {
  return html`<div class="columns">
    ${card({ title: t('The formula'), body: rules(name) })}
    ${card({ title: t('What does not count'), body: exceptions(name) })}
  </div>`;
}

function rules(name: string): Html {
  const order = t(
    'Servers are ranked every {minutes} minutes by these rules. Each rule decides only between servers that are equal by the rules before it.',
    { minutes: RANKS_EVERY_MINUTES },
  );
  const votes = t(
    'More votes rank higher. Votes of today and the {days} days before count (UTC). <link>What a vote weighs</link> is nearly always one.',
    { days: RANKING_DAYS - 1, link: linkTo('#weight') },
  );
  const uptime = t(
    'The share of the last {days} full days in which our own checks reached the server. Servers that no check has reached rank last. A server’s own reports do not count.',
    { days: UPTIME_DAYS },
  );
  const age = t(
    'Servers that were listed earlier rank higher; if that is equal too, the lower id ranks higher.',
  );
  const premium = t(
    'Nothing else counts. <strong>Premium</strong> is a label beside the name that an operator of {name} gives to a server. It does not change the rank, and players cannot vote more for it.',
    { name },
  );
  return html`<p>${order}</p>
    <ol class="checklist">
      ${ruleItem(t('Votes'), votes)}
      ${ruleItem(t('Uptime'), uptime)}
      ${ruleItem(t('Age of the listing'), age)}
    </ol>
    <p id="premium">${premium}</p>`;
}

function exceptions(name: string): Html {
  const items = [
    t(
      'A second vote by the same player for the same server within {hours} hours. It is refused. Names that look the same count as one player.',
      { hours: COOLDOWN_HOURS },
    ),
    t(
      'Votes that an operator of {name} excluded, for example bought or automated votes. Each exclusion is logged with its reason and can be undone.',
      { name },
    ),
    t('Votes of the vote form that look unusual, until an operator lets them count. Their players see that.'),
    t('Hidden and removed servers. They have no rank.'),
    t(
      'Time without checks, for example because our own network failed. It counts neither as uptime nor as downtime.',
    ),
  ];
  const delivery = t('Delivery to the server’s plugin makes no difference: a vote counts when it is cast.');
  return html`<ul class="checklist">
      ${items.map((item) => html`<li>${item}</li>`)}
    </ul>
    <p class="soft">${delivery}</p>`;
}

function form(base: string, search: string): Html {
  return html`<form method="get" action="${base}${PATH}#check" class="filters"
    role="search" aria-label="${t('A server’s rank')}">
    ${textField({
      name: 'server',
      label: t('Server'),
      type: 'search',
      value: search,
      maxlength: 100,
      hint: t('Name, or the last part of the page’s address.'),
      spellcheck: false,
    })}
    <button type="submit">${t('Check')}</button>
  </form>`;
}

/** The server whose slug or id was entered; otherwise the servers that a search finds. */
async function check(deps: AppDeps, request: FastifyRequest, search: string): Promise<Content> {
  const { base } = request.server.site;
  const named = await findServer(deps, search);
  if (named && !named.hiddenAt) return explained(base, await explainRank(deps, named));
  const alike = await limitedSearch(deps, request, search);
  if (alike.length === 0)
    return html`<p role="status">${t('No listed server has a name like “<bdi>{search}</bdi>”.', { search })}</p>`;
  return html`<p role="status">${t('Choose a server:')}</p>
    <ul class="plain">${alike.map(({ slug, name, rank }) => {
      const path = `${base}${PATH}${queryText({ server: slug })}#check`;
      const rankText = t('rank {rank}', { rank: count(rank) });
      return html`<li><a href="${path}"><bdi>${name}</bdi></a> <span class="soft">${rankText}</span></li>`;
    })}</ul>`;
}

const DECIDING_FIGURES: Record<DecidingFigure, Text> = {
  pause: defineMessage('a pause: paused servers are last'),
  votes: defineMessage('votes'),
  uptime: defineMessage('uptime (equal votes)'),
  listed: defineMessage('age of the listing (equal votes and uptime)'),
  id: defineMessage('lower id (all else equal)'),
};

function explained(base: string, explanation: RankExplanation): Html {
  const { server, rankedAt, serverCount, days, above, below } = explanation;
  const { votes: now } = sumOfDays(days);
  const counts = server.votesCount ?? 0;
  const since =
    now === counts ? '' : ` ${t('It has {now} now; the next ranking counts them.', { now: count(now) })}`;
  const votes = counted(counts, 'vote');
  const then = rankedAt
    ? t('It had {votes} at {time}.', { votes, time: time(rankedAt) })
    : t('It had {votes}.', { votes });
  const why =
    server.votesCount === null
      ? t('It was listed after the last ranking and gets its rank with the next one.')
      : html`${then}${since}${weighing(base, server)}`;
  const rows = [above, { ...server, by: null }, below].filter((row) => row !== null);
  const rank = t('<strong><bdi>{server}</bdi></strong> has rank <strong>{rank}</strong> of {listed}. {why}', {
    server: server.name,
    rank: count(server.rank),
    listed: count(serverCount),
    why,
  });
  return html`<p role="status">${rank}</p>
    ${neighbours(base, server, rows)}
    ${votesByDay(days)}`;
}

/** Empty if each vote has its full weight. */
function weighing(base: string, { votesCount, rankVotes }: RankFigures): Content {
  if (rankVotes === null || rankVotes === votesCount) return '';
  return html` ${t('For the rank they weigh {rankVotes} (<link>why</link>).', {
    rankVotes: decimal(rankVotes),
    link: linkTo(`${base}${PATH}#weight`),
  })}`;
}

type Neighbour = RankFigures & { by: DecidingFigure | null };

function neighbours(base: string, server: RankFigures, rows: Neighbour[]): Html {
  return dataTable<Neighbour>({
    caption: t('The server and its neighbours in the ranking'),
    rows,
    empty: '',
    columns: [
      { title: t('Rank'), kind: 'number', cell: ({ rank }) => count(rank) },
      {
        title: t('Server'),
        heads: true,
        cell: ({ slug, name }) => html`<a href="${base}/servers/${slug}"><bdi>${name}</bdi></a>`,
      },
      {
        title: t('Votes in {days} days', { days: RANKING_DAYS }),
        kind: 'number',
        cell: ({ votesCount }) => (votesCount === null ? '–' : count(votesCount)),
      },
      {
        title: t('For the rank'),
        kind: 'number',
        cell: ({ rankVotes }) => (rankVotes === null ? '–' : decimal(rankVotes)),
      },
      {
        title: t('Uptime'),
        kind: 'number',
        cell: ({ probedUptime }) => (probedUptime === null ? t('none') : `${decimal(probedUptime)} %`),
      },
      { title: t('Listed'), cell: ({ listedAt }) => day(listedAt) },
      {
        title: t('Decided by'),
        cell: ({ by, rank }) =>
          by === null
            ? html`<span class="soft">${t('this server')}</span>`
            : rank < server.rank
              ? t('above by {by}', { by: t(DECIDING_FIGURES[by]) })
              : t('below by {by}', { by: t(DECIDING_FIGURES[by]) }),
      },
    ],
  });
}

function votesByDay(days: RankExplanation['days']): Html {
  const shown = (value: number) => count(Math.round(value));
  return html`<h3>${t('Votes per day')}</h3>
    ${barChart({
      title: t('Votes in the last {days} days', { days: days.length }),
      points: days.map((one) => ({ label: shortDay(new Date(one.day)), value: one.votes })),
      shown,
      empty: t('No votes in this period.'),
      numbers: dataTable({
        caption: t('Votes by UTC day'),
        rows: days,
        empty: '',
        columns: rankDayColumns(),
      }),
    })}`;
}
