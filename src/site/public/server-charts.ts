import { UPTIME_DAYS } from '../../history/daily-figures.ts';
import { t } from '../../language/t.ts';
import { RANKING_DAYS } from '../../votes/ranking-period.ts';
import { count, decimal } from '../shared/format.ts';
import { latencyChart, playersChart, rankChart, uptimeChart, votesChart } from '../shared/history-charts.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { pathOf, RANGES, type Seen, type View, type Wanted } from './server-page-data.ts';
import { section } from './server-story.ts';

const rangeName = ({ range }: Wanted) => t((RANGES.find(([one]) => one === range) ?? RANGES[0])[1]);

/** The charts of a server's page: players and latency over the chosen range; uptime, votes and rank per day. */
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
