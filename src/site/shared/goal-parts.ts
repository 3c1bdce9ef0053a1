import type { GoalProgress } from '../../goals/goal-progress.ts';
import { defineMessage, t } from '../../language/t.ts';
import { count, dayText, percent } from './format.ts';
import { type Content, type Html, html } from './html.ts';
import { writtenLine } from './written-text.ts';

const OF_TARGET = {
  day: defineMessage('{votes} of {target, plural, one {# vote} other {# votes}} today (UTC)'),
  week: defineMessage('{votes} of {target, plural, one {# vote} other {# votes}} this week'),
  month: defineMessage('{votes} of {target, plural, one {# vote} other {# votes}} this month'),
  rolling: defineMessage('{votes} of {target, plural, one {# vote} other {# votes}} in this round'),
} as const;

/** `488 of 500 votes today (UTC)` */
export function goalVotes({ period, votes, target }: GoalProgress): string {
  return t(OF_TARGET[period], { votes: count(votes), target });
}

/** `12 to go`. Beyond the target of a period: `reached`. */
export function toGo({ votes, target }: GoalProgress): string {
  return votes < target ? t('{votes} to go', { votes: count(target - votes) }) : t('reached');
}

/** `pace`: the share of the period that is over, drawn as a stroke across the bar. */
export function goalBar(progress: GoalProgress, pace?: number): Html {
  const share = Math.min(1, progress.votes / progress.target);
  const at = (part: number) => `${String(Math.round(1_000 * part) / 10)}%`;
  const said = t('{percent} of the goal', { percent: percent(share) });
  const onPace =
    pace === undefined ? '' : `; ${t('on pace it would be {percent} now', { percent: percent(pace) })}`;
  return html`<svg class="bar goal-bar" role="img" aria-label="${said}${onPace}"><rect class="track" width="100%"
    height="100%" rx="5"/><rect class="fill" width="${at(share)}" height="100%" rx="5"/>${
      pace === undefined ? '' : html`<line class="pace" x1="${at(pace)}" x2="${at(pace)}" y1="-3" y2="13"/>`
    }</svg>`;
}

/** Bar, votes and the owner's sentence, for players. */
export function goalPart(progress: GoalProgress): Html {
  const { text } = progress;
  return html`<div class="goal"><p class="goal-head"><b>${t('Vote goal')}</b><span>${toGo(progress)}</span></p>
    ${goalBar(progress)}
    ${text ? html`<p class="goal-text">${writtenLine(text)}</p>` : ''}
    <p class="small soft">${goalVotes(progress)}${timesReached(progress)}</p></div>`;
}

function timesReached({ timesReached: times, since }: GoalProgress): Content {
  if (times === 0) return '';
  const day = dayText(since);
  return html`, ${t('reached {times, plural, one {# time} other {# times}} since {day}', { times, day })}`;
}
