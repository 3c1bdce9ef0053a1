import type { WithId } from 'mongodb';
import { percentile } from '../../delivery/figures/arrival-times.ts';
import { totalOf } from '../../delivery/figures/delivery-sums.ts';
import { UPTIME_DAYS } from '../../history/daily-figures.ts';
import type { UptimeDay } from '../../history/uptime-days.ts';
import { t } from '../../language/t.ts';
import { SECOND } from '../../platform/clock.ts';
import { startOfDay } from '../../platform/periods/period-marks.ts';
import type { Server } from '../../servers/server.ts';
import { RANKING_DAYS } from '../../votes/ranking-period.ts';
import { isConfirmed } from '../../votes/sent-not-confirmed.ts';
import { stateNameOf } from '../../votes/state-names.ts';
import type { Vote } from '../../votes/vote.ts';
import { legend, lineChart } from '../shared/chart.ts';
import { serverPath } from '../shared/dashboard-paths.ts';
import { changeMark, deckCard, KNOWN_WITHIN_DAYS } from '../shared/deck.ts';
import {
  count,
  dayText,
  decimal,
  duration,
  measured,
  percent,
  relative,
  shortDay,
  timeAgo,
  weekday,
} from '../shared/format.ts';
import { face } from '../shared/generated-pictures.ts';
import { numbersTable, playersByHourChart, uptimeChart, votesChart } from '../shared/history-charts.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { linkTo } from '../shared/parts.ts';
import { reviewTimes, starsText } from '../shared/review-parts.ts';
import { strokeMark, tally } from '../shared/tally.ts';
import { stateInList, strokeOf } from '../shared/vote-state.ts';
import { writtenLine } from '../shared/written-text.ts';
import { goalCard } from './goal-card.ts';
import type { Overview } from './overview-data.ts';

/** With as many rows, the card is as high as its neighbour. */
const NEWEST = 5;

/** The cards of the figures, in pairs of 8 and 4 columns. With a goal, the reviews have a row of their own. */
export function deckOf(base: string, server: WithId<Server>, seen: Overview): Content[] {
  const to = (part: string) => serverPath(base, server, part);
  const { goal, votes, now } = seen;
  const uptime = uptimeCard(to('/statistics'), server, seen);
  return [
    tallyCard(to('/votes'), seen),
    timesCard(to, seen),
    votesCard(to('/statistics'), seen),
    goal ? goalCard(to('/goal'), goal, votes, now) : uptime,
    playersCard(seen),
    goal ? uptime : '',
    reviewsCard(to('/reviews'), seen, goal ? 12 : 4),
  ];
}

function tallyCard(path: string, { newest, now }: Overview): Html {
  const oldestFirst = newest.toReversed();
  const [first, last] = [oldestFirst.at(0), oldestFirst.at(-1)];
  const title = t('The last {votes} votes', { votes: 20 });
  if (!first || !last)
    return deckCard({
      title,
      columns: 8,
      body: html`<p class="nothing-yet"><b>${t('No votes yet.')}</b> ${t(
        'The first stroke appears here with the first vote, and shows what happened to it.',
      )}</p>`,
    });
  const byState = Map.groupBy(newest, ({ delivery }) => stateNameOf(delivery));
  const said = [...byState].map(([state, votes]) => `${count(votes.length)} ${state}`).join(', ');
  const label = t('The last {votes} votes, oldest first: {states}', { votes: newest.length, states: said });
  const strokes = oldestFirst.map(({ username, votedAt, delivery }) => ({
    stroke: strokeOf(delivery),
    text: `${username}, ${relative(votedAt, now)}: ${stateNameOf(delivery)}`,
  }));
  return deckCard({
    title,
    columns: 8,
    beside: html`<a href="${path}">${t('All votes')}</a>`,
    body: html`${tally(label, strokes)}
      <p class="tally-ends">${timeAgo(first.votedAt, now)}${newest.length > 1 ? timeAgo(last.votedAt, now) : ''}</p>
      <ul class="strokes-key">${[...byState].map(([state, votes]) => keyEntry(path, state, votes))}</ul>
      ${newestList(path, newest, now)}`,
  });
}

/** Votes that failed are named, because their pages say why. The number is last: a word before it has one form. */
function keyEntry(path: string, state: string, votes: Vote[]): Html {
  const [one] = votes;
  const failed = one?.delivery.state === 'failed' ? votes.slice(0, 3) : [];
  const names = failed.map(
    ({ _id, username }, index) =>
      html`${index > 0 ? ', ' : ': '}<a href="${path}/${_id.toString()}"><bdi>${username}</bdi></a>`,
  );
  const mark = one ? strokeMark(strokeOf(one.delivery)) : '';
  return html`<li>${mark}<span>${state} <b>${count(votes.length)}</b>${names}</span></li>`;
}

/** A value with its unit in small: `104 ms`. */
function unitSmall(text: string): Html {
  const [, value = text, unit = ''] = /^(\S+)\s(.+)$/.exec(text) ?? [];
  return html`${value} <small>${unit}</small>`;
}

function timesCard(to: (part: string) => string, { deliveries, todo }: Overview): Html {
  const { times } = totalOf(deliveries);
  const [half, most] = [percentile(times, 0.5), percentile(times, 0.95)];
  const title = t('Votes arrive in');
  if (half === null || most === null) {
    const text = todo.listener
      ? t('Shown after the first vote that arrives.')
      : t('Shown when votes are forwarded. <a>Set up the vote listener</a>.', { a: linkTo(to('/listener')) });
    return deckCard({
      title,
      columns: 4,
      body: html`<p class="big soft">–</p><p class="soft small">${text}</p>`,
    });
  }
  const days = deliveries.map(({ day, times }) => ({ day: new Date(day), ms: percentile(times, 0.5) }));
  return deckCard({
    title,
    columns: 4,
    beside: html`<a href="${to('/deliveries')}">${t('Delivery')}</a>`,
    body: html`<p class="big">${unitSmall(measured(half))}</p>
      <p class="soft small">${t('Half of them sooner, 95 % within {time}.', { time: measured(most) })}</p>
      ${lineChart({
        title: t('Time to delivery per day, last {days} days', { days: days.length }),
        points: days.map(({ day, ms }) => ({
          label: shortDay(day),
          value: ms,
          reason: t('no vote was delivered'),
          isEmpty: ms === null,
        })),
        shown: measured,
        empty: '',
        numbers: numbersTable(
          t('Time to delivery per day'),
          [t('Day'), t('Half within')],
          days.map(({ day, ms }) => [dayText(day), ms === null ? '–' : measured(ms)]),
        ),
      })}`,
  });
}

const sumOf = (days: { votes: number }[]) => days.reduce((sum, { votes }) => sum + votes, 0);

function votesCard(path: string, { votes, votesBefore, info }: Overview): Html {
  const [total, before] = [sumOf(votes), sumOf(votesBefore)];
  const isKnown = sumOf(votesBefore.slice(0, KNOWN_WITHIN_DAYS)) > 0 && total > 0;
  const change = isKnown ? changeMark(total - before, percent(Math.abs(total - before) / before)) : '';
  const key = isKnown
    ? legend([
        ['past', t('these {days} days', { days: RANKING_DAYS })],
        ['step', t('the {days} before', { days: RANKING_DAYS })],
      ])
    : html`<a href="${path}">${t('Statistics')}</a>`;
  const weighed =
    info.rankVotes === null
      ? ''
      : html`<p class="soft small">${t('{votes} for the rank. <a>See why</a>', {
          votes: decimal(info.rankVotes),
          a: linkTo(path),
        })}</p>`;
  return deckCard({
    title: t('Votes in {days} days', { days: RANKING_DAYS }),
    columns: 8,
    beside: key,
    body: html`<p class="mid">${count(total)} ${change}</p>${weighed}${votesChart(votes, isKnown ? votesBefore : [])}`,
  });
}

function playersCard({ hours, hoursBefore, today, now }: Overview): Html {
  const before = t('last {weekday}', { weekday: weekday(now) });
  const hasBefore = hoursBefore.points.some(({ averagePlayers }) => averagePlayers !== null);
  const hasToday = hours.points.some(({ averagePlayers }) => averagePlayers !== null);
  return deckCard({
    title: t('Players today'),
    columns: 8,
    beside: hasToday
      ? legend([['line', t('today')], ...(hasBefore ? ([['before', before]] as ['before', string][]) : [])])
      : '',
    body: playersByHourChart(hours, hoursBefore, startOfDay(today), before),
  });
}

/** The newest days on which the server was offline or not measured. */
const SHOWN_OUTAGES = 3;
/** A minute between two checks is no gap. */
const LEAST_SECONDS = 60;

function uptimeCard(path: string, server: WithId<Server>, { uptime }: Overview): Html {
  const share = server.daily.uptimePercentage;
  const value =
    typeof share === 'number'
      ? html`${decimal(share)} <small>${t('% in {days} days', { days: UPTIME_DAYS })}</small>`
      : html`<span class="soft">–</span>`;
  return deckCard({
    title: t('Uptime'),
    columns: 4,
    beside: html`<a href="${path}">${t('Statistics')}</a>`,
    body: html`<p class="mid">${value}</p>${uptimeChart(uptime)}`,
    foot: typeof share === 'number' ? outages(uptime) : '',
  });
}

function outages(days: UptimeDay[]): Content {
  const listed = days.findIndex(({ onlineSeconds, offlineSeconds }) => onlineSeconds + offlineSeconds > 0);
  if (listed === -1) return '';
  const shown = days
    .slice(listed)
    .filter(
      ({ offlineSeconds, unknownSeconds }) =>
        offlineSeconds >= LEAST_SECONDS || unknownSeconds >= LEAST_SECONDS,
    )
    .toReversed()
    .slice(0, SHOWN_OUTAGES);
  if (shown.length === 0) return '';
  return html`<ol class="outages">${shown.map(({ day, offlineSeconds, unknownSeconds }) => {
    const isOffline = offlineSeconds >= LEAST_SECONDS;
    const time = duration((isOffline ? offlineSeconds : unknownSeconds) * SECOND);
    return html`<li>${strokeMark(isOffline ? 'failed' : 'none')}<span>${shortDay(new Date(day))}</span><span
      class="soft">${isOffline ? t('{time} offline', { time }) : t('{time} not measured', { time })}</span></li>`;
  })}</ol>`;
}

function newestList(path: string, newest: Vote[], now: Date): Html {
  return html`<h3 class="for-readers">${t('Newest votes')}</h3><ol class="newest">${newest
    .slice(0, NEWEST)
    .map(
      (vote) => html`<li><a href="${path}/${vote._id.toString()}">${writtenLine(vote.username)}</a>
      ${timeAgo(vote.votedAt, now)}${stateInList(vote)}<span class="took">${tookText(vote)}</span></li>`,
    )}</ol>`;
}

/** Not after a resend by hand: the time would say nothing about the delivery. */
function tookText({ delivery, votedAt }: Vote): string {
  const { attempts, deliveredAt } = delivery;
  if (!deliveredAt || isConfirmed(delivery) === null || attempts.at(-1)?.wokenBy === 'resend') return '–';
  return measured(deliveredAt.getTime() - votedAt.getTime());
}

function reviewsCard(path: string, { reviews, now }: Overview, columns: 4 | 12): Html {
  const { reviews: newest, reviewCount } = reviews;
  const items = newest.map((review) => {
    const { _id, username, rating, content, answer } = review;
    const to = `${path}#review-${_id.toHexString()}`;
    const answerLink = answer
      ? html`<span class="soft">${t('answered')}</span>`
      : html`<a href="${to}">${t('Answer')}<span class="for-readers"> ${username}</span></a>`;
    return html`<li>${face(username, 36)}<p class="by"><b>${writtenLine(username)}</b> ${starsText(rating)}</p>
      <p class="small">${reviewTimes(review, now)} · ${answerLink}</p>
      ${content ? html`<p class="text" dir="auto">${writtenLine(content)}</p>` : ''}</li>`;
  });
  return deckCard({
    title: t('Newest reviews'),
    columns,
    beside:
      reviewCount > 0
        ? html`<a href="${path}">${t('All {reviews}', { reviews: count(reviewCount) })}</a>`
        : '',
    body:
      items.length > 0
        ? html`<ol class="newest-reviews">${items}</ol>`
        : html`<p class="soft small">${t('No public reviews yet.')}</p>`,
  });
}
