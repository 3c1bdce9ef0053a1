import { PLAYER_DAYS, UPTIME_DAYS } from '../../history/daily-figures.ts';
import { defineMessage, type Text, t } from '../../language/t.ts';
import { RANKING_DAYS } from '../../votes/ranking-period.ts';
import type { TopVoter } from '../../votes/top-voters.ts';
import { count, counted, decimal, oneDecimal, percentOf, unit } from '../shared/format.ts';
import { face } from '../shared/generated-pictures.ts';
import { latencyChart, playersChart, rankChart, uptimeChart, votesChart } from '../shared/history-charts.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { icon } from '../shared/icon.ts';
import { linkTo } from '../shared/parts.ts';
import { description } from '../shared/profile-parts.ts';
import { playersText } from '../shared/server-figures.ts';
import { rankMark } from '../shared/server-parts.ts';
import { writtenLine } from '../shared/written-text.ts';
import { similarCards } from './server-list.ts';
import { pathOf, RANGES, type Seen, type View, type Wanted } from './server-page-data.ts';

/** Longer descriptions are cut, with a link that shows the whole text. */
const LONG_TEXT = 1_500;

export function keyFigures(base: string, seen: Seen): Html {
  const { info, found } = seen;
  const { rankVotes, uptimePercentage, peakPlayers } = info;
  const reviews = html`<a href="#reviews">${counted(found.total, 'review')}</a>`;
  const cells: [title: Content, value: Content, detail?: Content][] = [
    [t('Rank'), html`${count(info.rankPosition)}${rankChange(seen)}`],
    [
      t('Votes in {days} days', { days: RANKING_DAYS }),
      count(info.votesCount),
      rankVotes === null ? '' : votesForRank(base, rankVotes),
    ],
    found.total === 0
      ? [t('Rating'), '–', t('no reviews yet')]
      : [
          html`${t('Rating')} · ${reviews}`,
          html`${oneDecimal(found.averageRating)}<span class="of">${icon('star', 'solid')}</span>`,
        ],
    [
      t('Uptime in {days} days', { days: UPTIME_DAYS }),
      uptimePercentage === null ? '–' : percentOf(decimal(uptimePercentage)),
    ],
  ];
  if (peakPlayers > 0) cells.push([t('Peak in {days} days', { days: PLAYER_DAYS }), count(peakPlayers)]);
  return html`<dl class="key-figures">${cells.map(
    ([title, value, detail]) =>
      html`<div><dt>${title}</dt><dd>${value}${detail ? html`<small>${detail}</small>` : ''}</dd></div>`,
  )}</dl>`;
}

/** With the page that says why votes can weigh less. */
function votesForRank(base: string, rankVotes: number): Html {
  return t('<a>{votes} for the rank</a>', {
    votes: decimal(rankVotes),
    a: linkTo(`${base}/how-ranking-works#weight`),
  });
}

/** Since yesterday. Empty if it has not changed, or if yesterday's rank is unknown. */
function rankChange({ ranks, info: { rankPosition } }: Seen): Content {
  const before = ranks.at(-1)?.rank ?? rankPosition;
  const places = before - rankPosition;
  if (places === 0) return '';
  const text =
    places > 0
      ? t('{places} better than yesterday', { places: count(places) })
      : t('{places} worse than yesterday', { places: count(-places) });
  return html`<span class="of ${places > 0 ? 'up' : ''}" title="${text}">${icon(
    places > 0 ? 'arrow-up' : 'arrow-down',
  )}<span aria-hidden="true">${count(Math.abs(places))}</span><span class="for-readers">${text}</span></span>`;
}

/** If the text is long, CSS cuts it until the user opens it or it gets the focus. */
export function aboutSection(text: string | undefined): Content {
  if (!text) return '';
  if (text.length <= LONG_TEXT) return section('about', t('About'), description(text));
  const body = html`<div class="long-text" id="whole-text">${description(text)}
    <p class="read-on"><a class="button quiet" href="#whole-text">${t('Read on')}</a></p></div>`;
  return section('about', t('About'), body);
}

/** `beside` is shown beside the heading. */
export function section(id: string, title: string, body: Content, beside: Content = ''): Html {
  return html`<section id="${id}"><header><h2>${title}</h2>${beside}</header>${body}</section>`;
}

export function similarSection(base: string, { seen: { similar } }: View): Content {
  if (similar.length === 0) return '';
  return html`<section class="similar" id="similar"><header><h2>${t('Similar servers')}</h2></header>
    ${similarCards(base, similar)}</section>`;
}

const rangeName = ({ range }: Wanted) => t((RANGES.find(([one]) => one === range) ?? RANGES[0])[1]);

/** The figures of the tabs, by the ids of their panels. Radio buttons choose one, without script (profile.css). */
const FIGURES = [
  ['players', defineMessage('Players')],
  ['votes', defineMessage('Votes')],
  ['uptime', defineMessage('Uptime')],
  ['rank', defineMessage('Rank')],
  ['latency', defineMessage('Latency')],
] as const satisfies [string, Text][];

type Figure = (typeof FIGURES)[number][0];

/** A link to a panel opens it (scripts/charts.js). */
export function figuresSection(base: string, view: View): Html {
  const charts = chartsOf(view);
  const tab = ([id, name]: (typeof FIGURES)[number], index: number) =>
    html`<label><input type="radio" name="figure" value="${id}" ${index === 0 ? html`checked` : ''} />${t(
      name,
    )}</label>`;
  const panel = ([id, name]: (typeof FIGURES)[number]) => {
    const { about, chart } = charts[id];
    const ranges = id === 'players' || id === 'latency' ? rangeLinks(base, view, id) : '';
    return html`<div class="panel-of" id="${id}"><header><h3 class="for-readers">${t(name)}</h3>
      <p class="soft small">${about}</p>${ranges}</header>${chart}</div>`;
  };
  return html`<section class="tabbed" id="figures"><header><h2>${t('Figures')}</h2>
    <fieldset class="figure-tabs"><legend class="for-readers">${t('Figure shown')}</legend>
    ${FIGURES.map(tab)}</fieldset></header>${FIGURES.map(panel)}</section>`;
}

function chartsOf({ seen, wanted }: View): Record<Figure, { about: Content; chart: Html }> {
  const { info, history, now, uptime, votes, ranks } = seen;
  const latency = t('Latency: {range}', { range: rangeName(wanted) });
  const players = t('Players: {range}', { range: rangeName(wanted) });
  const { uptimePercentage } = info;
  return {
    players: { about: playersSentence(info), chart: playersChart(players, history, now) },
    votes: {
      about: t('{votes} this month', { votes: count(info.monthlyVotes) }),
      chart: votesChart(votes),
    },
    uptime: {
      about:
        uptimePercentage === null
          ? ''
          : `${percentOf(decimal(uptimePercentage))} ${t('in {days} days', { days: UPTIME_DAYS })}`,
      chart: uptimeChart(uptime, uptimeKey(uptime)),
    },
    rank: { about: `${t('Rank')} ${count(info.rankPosition)}`, chart: rankChart(ranks) },
    latency: { about: latencyText(seen), chart: latencyChart(latency, history, now) },
  };
}

/** `76 of 120 players, 43 on average in 7 days` */
function playersSentence(info: Seen['info']): string {
  const { averagePlayers: average, peakPlayers } = info;
  if (peakPlayers === 0) return playersText(info);
  return t('{players}, {average} on average in {days} days', {
    players: playersText(info),
    average: average < 10 ? decimal(average) : count(Math.round(average)),
    days: PLAYER_DAYS,
  });
}

function rangeLinks(base: string, { server, wanted }: View, figure: Figure): Html {
  const links = RANGES.map(([range, text]) => {
    const path = `${base}${pathOf(server, { ...wanted, range })}#${figure}`;
    return html`<a href="${path}" ${range === wanted.range ? html`aria-current="true"` : ''}>${t(text)}</a>`;
  });
  return html`<nav class="chart-ranges" aria-label="${t('Time shown')}">${links}</nav>`;
}

function latencyText({ info: { latencyMs, averageLatency } }: Seen): string {
  const texts = [
    latencyMs === null ? '' : t('{latency} ms now', { latency: count(Math.round(latencyMs)) }),
    averageLatency === null
      ? ''
      : t('{days}-day average {average} ms', {
          days: UPTIME_DAYS,
          average: count(Math.round(averageLatency)),
        }),
  ];
  return texts.filter(Boolean).join(', ');
}

function uptimeKey(uptime: Seen['uptime']): Content {
  if (uptime.every(({ onlineSeconds, offlineSeconds }) => onlineSeconds + offlineSeconds === 0)) return '';
  return html`<ul class="key soft small">
    <li class="good">${t('online')}</li>
    <li class="bad">${t('offline')}</li>
    <li class="unknown">${t('not measured: the table says why')}</li>
  </ul>`;
}

export function topVotersCard({ topVoters: { current, previous } }: Seen): Content {
  if (current.length + previous.length === 0) return '';
  const before = html`<details><summary>${t('Last month')}</summary>${voterList(previous)}</details>`;
  return html`<section id="top-voters"><header><h2>${t('Top voters')}</h2><p class="soft small">${t(
    'This month',
  )}</p></header>${voterList(current)}${previous.length > 0 ? before : ''}</section>`;
}

function voterList(voters: TopVoter[]): Html {
  const rows = voters.map(
    (
      { username, votes },
      index,
    ) => html`<li>${rankMark(index + 1, votes)}${face(username, 36)}${writtenLine(username)}
      <span>${count(votes)}<span class="for-readers"> ${unit(votes, 'vote')}</span></span></li>`,
  );
  return rows.length > 0
    ? html`<ol class="voters">${rows}</ol>`
    : html`<p class="soft">${t('No votes.')}</p>`;
}
