import type { GoalProgress } from '../../goals/goal-progress.ts';
import { t } from '../../language/t.ts';
import { after, DAY } from '../../platform/clock.ts';
import { addDays, dayOf, startOfDay } from '../../platform/periods/period-marks.ts';
import { lineChart } from '../shared/chart.ts';
import { deckCard } from '../shared/deck.ts';
import { count, dayText, relative, shortDay } from '../shared/format.ts';
import { goalBar, goalVotes, toGo } from '../shared/goal-parts.ts';
import { numbersTable, votesChart } from '../shared/history-charts.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { writtenLine } from '../shared/written-text.ts';

type VotesOfDay = { day: string; votes: number };

/** Whole days before today, from which the next days are estimated. */
const RATE_DAYS = 7;

/** `days`: the votes of the last UTC days, today last. */
export function goalCard(path: string, goal: GoalProgress, days: VotesOfDay[], now: Date): Html {
  const { text } = goal;
  return deckCard({
    title: t('Vote goal'),
    columns: 4,
    beside: html`<a href="${path}">${t('Change')}</a>`,
    body: html`<p class="mid goal-left">${toGo(goal)}</p>${goalBar(goal, paceOf(goal, now))}
      <p class="soft small">${goalVotes(goal)}. ${outlook(goal, days, now)}</p>${addedUp(goal, days, now)}`,
    foot: text ? writtenLine(text) : '',
  });
}

/** The share of the period that is over. */
function paceOf({ from, end }: GoalProgress, now: Date): number | undefined {
  return end ? (now.getTime() - from.getTime()) / (end.getTime() - from.getTime()) : undefined;
}

function outlook({ votes, target, end }: GoalProgress, days: VotesOfDay[], now: Date): Content {
  if (votes >= target) return '';
  const before = days.slice(-1 - RATE_DAYS, -1);
  const aDay = before.reduce((sum, day) => sum + day.votes, 0) / RATE_DAYS;
  if (aDay === 0) return '';
  const reachedAt = after(now, ((target - votes) / aDay) * DAY);
  const rate = { votes: count(Math.round(aDay)), days: RATE_DAYS };
  if (end && reachedAt >= end)
    return t('At {votes} votes a day, as in the last {days} days, it is not reached in this period.', rate);
  const time = relative(reachedAt, now);
  return t('At {votes} votes a day, as in the last {days} days, it is reached {time}.', { ...rate, time });
}

/**
 * The votes of a week or month added up by day, and the pace that would reach the target at its end. Of a day or round:
 * the days from which the outlook is estimated, and today.
 */
function addedUp(
  { period, from, end, votes, target }: GoalProgress,
  known: VotesOfDay[],
  now: Date,
): Content {
  if (!end || period === 'day') return votesChart(known.slice(-1 - RATE_DAYS));
  const first = dayOf(from);
  const length = Math.round((end.getTime() - startOfDay(first).getTime()) / DAY);
  const days = Array.from({ length }, (_, index) => addDays(first, index));
  const today = dayOf(now);
  const ofDay = new Map(known.map((one) => [one.day, one.votes]));
  let sum = 0;
  const sums = days.map((day) => {
    sum += ofDay.get(day) ?? 0;
    return day > today ? null : sum;
  });
  // The first day may have votes from before the goal was set.
  const surplus = sum - votes;
  const values = sums.map((value) => (value === null ? null : Math.max(0, value - surplus)));
  return lineChart({
    title: t('Votes added up, and the pace that reaches the goal'),
    points: days.map((day, index) => {
      const value = values[index] ?? null;
      return { label: shortDay(startOfDay(day)), value, isEmpty: value === null, reason: t('not yet') };
    }),
    before: days.map((_, index) => (target * (index + 1)) / length),
    shown: (value) => count(Math.round(value)),
    empty: '',
    numbers: numbersTable(
      t('Votes added up'),
      [t('Day'), t('Votes')],
      days.flatMap((day, index) => {
        const value = values[index] ?? null;
        return value === null ? [] : [[dayText(startOfDay(day)), count(value)]];
      }),
    ),
  });
}
