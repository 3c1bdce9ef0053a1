import { type LoggedAttempt, MOST_LOGGED } from '../../events/attempt-log.ts';
import { EVENT_TTL_MS } from '../../events/event.ts';
import { defineMessage, type Text, t } from '../../language/t.ts';
import { DAY } from '../../platform/clock.ts';
import { count, localTime, measured } from '../shared/format.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { badge, card, dataTable, type Tone } from '../shared/parts.ts';

const ENDS: Record<LoggedAttempt['end'], { tone: Tone; text: Text }> = {
  sent: { tone: 'good', text: defineMessage('sent') },
  retry: { tone: 'attention', text: defineMessage('is tried again') },
  refused: { tone: 'bad', text: defineMessage('refused') },
  'given-up': { tone: 'bad', text: defineMessage('given up') },
  waits: { tone: 'quiet', text: defineMessage('waits for a limit') },
};

/** More are shown when somebody opens them. */
const SHOWN = 10;

export function attemptsCard(path: string, attempts: LoggedAttempt[]): Html {
  const about = t('The last {most} attempts. An event can be sent again for {days} days.', {
    most: count(MOST_LOGGED),
    days: EVENT_TTL_MS / DAY,
  });
  const earlier = attempts.slice(SHOWN);
  // One form for all rows: the pressed button names the event.
  return card({
    id: 'attempts',
    title: t('Attempts'),
    body: html`<p class="small soft">${about}</p><form method="post" action="${path}/replay">
      ${attemptsTable(attempts.slice(0, SHOWN))}
      ${
        earlier.length > 0
          ? html`<details><summary>${t('Earlier attempts ({attempts})', { attempts: count(earlier.length) })}</summary>
              ${attemptsTable(earlier)}</details>`
          : ''
      }</form>`,
  });
}

function attemptsTable(rows: LoggedAttempt[]): Html {
  return dataTable({
    caption: t('Attempts'),
    columns: [
      { title: t('Time'), heads: true, cell: ({ at }) => localTime(at) },
      {
        title: t('Event'),
        cell: ({ type, isTest }) => html`<code>${type}</code> ${isTest ? t('(test)') : ''}`,
      },
      { title: t('Result'), cell: ({ end }) => badge(ENDS[end].tone, t(ENDS[end].text)) },
      { title: t('Its answer'), kind: 'address', cell: answerOf },
      { title: t('Took'), kind: 'number', cell: ({ durationMs }) => measured(durationMs) },
      { title: t('Again'), cell: replayButton },
    ],
    rows,
    empty: t('Nothing was sent yet.'),
  });
}

function answerOf({ status, reason }: LoggedAttempt): Content {
  const parts = [status && !reason?.includes(`HTTP ${status}`) ? `HTTP ${status}` : '', reason ?? ''];
  const answer = parts.filter(Boolean).join(', ');
  return answer ? html`<code>${answer}</code>` : '–';
}

function replayButton({ eventId, type, isTest, at }: LoggedAttempt): Content {
  if (isTest) return '–';
  return html`<button class="quiet" name="event" value="${eventId}">${t('Replay')}<span
    class="for-readers"> <code>${type}</code>, ${localTime(at)}</span></button>`;
}
