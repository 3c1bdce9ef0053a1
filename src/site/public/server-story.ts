import { PLAYER_DAYS, UPTIME_DAYS } from '../../history/daily-figures.ts';
import { plural } from '../../language/plural.ts';
import { t } from '../../language/t.ts';
import { RANKING_DAYS } from '../../votes/ranking-period.ts';
import type { TopVoter } from '../../votes/top-voters.ts';
import { count, counted, decimal, oneDecimal } from '../shared/format.ts';
import { face } from '../shared/generated-pictures.ts';
import { latencyChart, playersChart, rankChart, uptimeChart, votesChart } from '../shared/history-charts.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { icon } from '../shared/icon.ts';
import { motdPanel } from '../shared/motd.ts';
import { description } from '../shared/profile-parts.ts';
import { rankMark } from '../shared/server-parts.ts';
import { similarCards } from './server-list.ts';
import { pathOf, RANGES, type Seen, type View, type Wanted } from './server-page-data.ts';

/** Longer descriptions are cut, with a link that shows the whole text. */
const LONG_TEXT = 1_500;

export function keyFigures(seen: Seen): Html {
  const { info, found } = seen;
  const { rankVotes, uptimePercentage, peakPlayers } = info;
  const cells: [title: string, value: Content, detail?: Content][] = [
    [t('Rank'), html`${count(info.rankPosition)}${rankChange(seen)}`],
    [
      t('Votes'),
      count(info.votesCount),
      html`${t('in {days} days', { days: RANKING_DAYS })}${
        rankVotes === null ? '' : html`, ${t('{votes} for the rank', { votes: decimal(rankVotes) })}`
      }`,
    ],
    found.total === 0
      ? [t('Rating'), '–', t('no reviews yet')]
      : [
          t('Rating'),
          html`${oneDecimal(found.averageRating)}<span class="of">${icon('star', 'solid')}</span>`,
          html`<a href="#reviews">${counted(found.total, 'review')}</a>`,
        ],
    [
      t('Uptime'),
      uptimePercentage === null ? '–' : `${decimal(uptimePercentage)} %`,
      t('in {days} days', { days: UPTIME_DAYS }),
    ],
  ];
  if (peakPlayers > 0) {
    const players = info.averagePlayers;
    const average = players < 10 ? decimal(players) : count(Math.round(players));
    const detail = t('in {days} days, {average} on average', { days: PLAYER_DAYS, average });
    cells.push([t('Most players'), count(peakPlayers), detail]);
  }
  return html`<dl class="key-figures">${cells.map(
    ([title, value, detail]) =>
      html`<div><dt>${title}</dt><dd>${value}${detail ? html`<small>${detail}</small>` : ''}</dd></div>`,
  )}</dl>`;
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

export function motdSection(motd: string): Content {
  const panel = motdPanel(motd);
  return panel ? section('motd', t('Message of the day'), panel) : '';
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

export function chartSections(base: string, view: View): Html {
  const { seen, wanted } = view;
  const { info, history, now, uptime, votes, ranks } = seen;
  const latency = t('Latency: {range}', { range: rangeName(wanted) });
  const players = t('Players: {range}', { range: rangeName(wanted) });
  const soft = (text: Content) => html`<p class="soft small">${text}</p>`;
  const uptimeText = info.uptimePercentage === null ? '' : `${decimal(info.uptimePercentage)} %`;
  return html`${section('players', t('Players'), playersChart(players, history, now), rangeLinks(base, view))}
    <div class="pair">
      ${section(
        'uptime',
        t('Uptime in {days} days', { days: UPTIME_DAYS }),
        uptimeChart(uptime, uptimeKey(uptime)),
        soft(uptimeText),
      )}
      ${section(
        'votes',
        t('Votes in {days} days', { days: RANKING_DAYS }),
        votesChart(votes),
        soft(t('{votes} this month', { votes: count(info.monthlyVotes) })),
      )}
      ${section('latency', latency, latencyChart(latency, history, now), soft(latencyText(seen)))}
      ${section('rank', t('Rank'), rankChart(ranks))}
    </div>`;
}

function rangeLinks(base: string, { server, wanted }: View): Html {
  const links = RANGES.map(([range, text]) => {
    const path = `${base}${pathOf(server, { ...wanted, range })}#players`;
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
  return html`<section id="top-voters"><header><h2>${t('Top voters')}</h2></header>
    <div class="voter-lists">${voterList(t('This month'), current)}${voterList(t('Last month'), previous)}</div>
  </section>`;
}

function voterList(title: string, voters: TopVoter[]): Html {
  const rows = voters.map(
    ({ username, votes }, index) => html`<li>${rankMark(index + 1)}${face(username, 36)}<bdi>${username}</bdi>
      <span>${count(votes)}<span class="for-readers"> ${plural(votes, t('vote'), t('votes'))}</span></span></li>`,
  );
  return html`<div><h3>${title}</h3>
    ${rows.length > 0 ? html`<ol class="voters">${rows}</ol>` : html`<p class="soft">${t('No votes.')}</p>`}
  </div>`;
}
