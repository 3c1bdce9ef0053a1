import type { GoalPeriod } from '../../goals/goal.ts';
import { plural } from '../../language/plural.ts';
import { t } from '../../language/t.ts';
import { SECOND } from '../../platform/clock.ts';
import type { StoredEvent } from '../event.ts';
import { durationText, notificationTime, numberText, PERIOD_WORDS } from '../event-text.ts';
import { EVENT_KINDS, type EventType, kindOfType } from '../kinds.ts';

/** `subject` follows the server's name and a colon. */
export type Sentences = { subject: string; paragraphs: string[] };

type Data = StoredEvent['data'];

/**
 * For people, of an event that was stored without a text: of one that concerns owners alone the text says more than its
 * data, so only a test event of such a kind comes here. Votes have a template instead.
 */
export function eventSentences({ type, data }: Pick<StoredEvent, 'type' | 'data'>): Sentences {
  const { title, hint } = EVENT_KINDS[kindOfType(type)];
  return SENTENCES[type]?.(data) ?? { subject: t(title), paragraphs: [t(hint)] };
}

const SENTENCES: Partial<Record<EventType, (data: Data) => Sentences>> = {
  'vote.excluded': ({ username }) => ({
    subject: 'a vote no longer counts',
    paragraphs: [`An operator excluded the vote of ${username ?? 'a player'}.`],
  }),
  'goal.reached': ({ target, period, goal_text: text, round }) => ({
    subject: period === 'rolling' ? `vote goal reached, round ${round}` : 'vote goal reached',
    paragraphs: [
      `${number(target)} ${plural(Number(target), 'vote', 'votes')}${PERIOD_WORDS[period as GoalPeriod]}.`,
      ...(text ? [String(text)] : []),
    ],
  }),
  'server.offline': ({ since }) => ({
    subject: 'the server is offline',
    paragraphs: [`It does not answer since ${time(since)}.`],
  }),
  'server.online': ({ offline_seconds: seconds }) => ({
    subject: 'the server is online again',
    paragraphs: [`It was offline for ${durationText(Number(seconds) * SECOND)}.`],
  }),
  'review.published': ({ username, rating }) => ({
    subject: `a new review, ${number(rating)} of 5 stars`,
    paragraphs: [`By ${username ?? 'a player'}.`],
  }),
  'rank.changed': ({ rank, previous_rank: before }) => ({
    subject: `rank ${number(rank)}`,
    paragraphs: [`The day before it was ${number(before)}.`],
  }),
  milestone: ({ votes }) => ({
    subject: `${number(votes)} votes`,
    paragraphs: [`Players voted ${number(votes)} times for it. Thank you!`],
  }),
};

function number(value: unknown): string {
  return numberText(Number(value));
}

function time(iso: unknown): string {
  return notificationTime(new Date(String(iso)));
}
