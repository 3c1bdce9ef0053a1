import type { GoalPeriod } from '../../goals/goal.ts';
import { DAY, HOUR, MINUTE } from '../../platform/clock.ts';
import { notificationTime, numberText, PERIOD_WORDS } from '../event-text.ts';
import type { EventType } from '../kinds.ts';
import type { ResolvedEvent } from '../resolve-events.ts';

/** `subject` follows the server's name and a colon. */
export type Sentences = { subject: string; paragraphs: string[] };

type Data = ResolvedEvent['data'];

/** For people, of an event that was stored without a text. Votes have a template instead. */
export function eventSentences({ type, data }: Pick<ResolvedEvent, 'type' | 'data'>): Sentences {
  return SENTENCES[type](data);
}

const SENTENCES: Record<EventType, (data: Data) => Sentences> = {
  'vote.counted': ({ username }) => ({ subject: 'a vote', paragraphs: [`${username ?? 'A player'} voted.`] }),
  'vote.excluded': ({ username }) => ({
    subject: 'a vote no longer counts',
    paragraphs: [`An operator excluded the vote of ${username ?? 'a player'}.`],
  }),
  'goal.reached': ({ target, period, goal_text: text, round }) => ({
    subject: period === 'rolling' ? `vote goal reached, round ${round}` : 'vote goal reached',
    paragraphs: [
      `${number(target)} votes${PERIOD_WORDS[period as GoalPeriod]}.`,
      ...(text ? [String(text)] : []),
    ],
  }),
  'server.offline': ({ since }) => ({
    subject: 'offline',
    paragraphs: [`It is offline since ${time(since)}.`],
  }),
  'server.online': ({ offline_seconds: seconds }) => ({
    subject: 'online again',
    paragraphs: [`It was offline for ${duration(Number(seconds) * 1_000)}.`],
  }),
  'listener.down': ({ reason, since }) => ({
    subject: 'vote listener down',
    paragraphs: [`Since ${time(since)} the vote listener ${DOWN[String(reason)] ?? 'takes no votes'}.`],
  }),
  'listener.back': () => ({ subject: 'vote listener works again', paragraphs: ['It takes votes again.'] }),
  'votes.expiring': ({ expires_at: at }) => ({
    subject: 'votes about to be given up',
    paragraphs: [`Votes that wait for the vote listener are given up from ${time(at)} on.`],
  }),
  'review.published': ({ username, rating }) => ({
    subject: 'new review',
    paragraphs: [`${username ?? 'A player'} gave ${number(rating)} of 5.`],
  }),
  'rank.changed': ({ rank, previous_rank: before }) => ({
    subject: `rank ${number(rank)}`,
    paragraphs: [`The day before it was ${number(before)}.`],
  }),
  milestone: ({ votes }) => ({
    subject: `${number(votes)} votes`,
    paragraphs: [`Players voted ${number(votes)} times for it. Thank you!`],
  }),
  'exclusion.decided': ({ votes, decision }) => ({
    subject: decision === 'included' ? 'votes count again' : 'votes excluded',
    paragraphs: [`An operator ${decision === 'included' ? 'returned' : 'excluded'} votes: ${number(votes)}.`],
  }),
};

const DOWN: Record<string, string> = {
  paused: 'is paused because of an error',
  unreachable: 'is unreachable',
  unfetched: 'fetches no votes',
};

function number(value: unknown): string {
  return numberText(Number(value));
}

function time(iso: unknown): string {
  return notificationTime(new Date(String(iso)));
}

/** `3 hours`: rounded down, at least a minute. */
function duration(ms: number): string {
  const units = [
    ['day', DAY],
    ['hour', HOUR],
    ['minute', MINUTE],
  ] as const;
  const [name, length] = units.find(([, unit]) => ms >= unit) ?? (['minute', MINUTE] as const);
  const count = Math.max(Math.floor(ms / length), 1);
  return `${count} ${name}${count === 1 ? '' : 's'}`;
}
