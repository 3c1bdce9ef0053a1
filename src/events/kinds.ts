import { defineMessage, filled, type Text } from '../language/t.ts';
import { FORGOTTEN_AFTER_MINUTES } from '../listeners/listener-state.ts';

/** Owners are not told earlier: restarts take less time. */
export const OFFLINE_FOR_MINUTES = 10;

export type EventTone = 'good' | 'attention' | 'bad' | 'quiet';

type KindDefinition = { title: Text; hint: Text; tone: EventTone };

/** What a subscription may want; the names are those of the field `type` of a message (docs/events.md). */
export const EVENT_KINDS = {
  'vote.counted': {
    title: defineMessage('Votes'),
    hint: defineMessage(
      'A vote counts, a held one when it is released; “vote.excluded” follows if an operator excludes it.',
    ),
    tone: 'quiet',
  },
  'goal.reached': {
    title: defineMessage('Vote goal'),
    hint: defineMessage('The vote goal is reached.'),
    tone: 'good',
  },
  'server.offline': {
    title: defineMessage('Server offline'),
    hint: filled(defineMessage('The server is offline for {minutes} minutes.'), {
      minutes: OFFLINE_FOR_MINUTES,
    }),
    tone: 'bad',
  },
  'server.online': {
    title: defineMessage('Server online again'),
    hint: defineMessage('The server is back after it was offline.'),
    tone: 'good',
  },
  'listener.down': {
    title: defineMessage('Vote listener down'),
    hint: filled(
      defineMessage(
        'It is paused because of an error, unreachable for an hour, or votes wait and nobody fetches them for {minutes} minutes.',
      ),
      { minutes: FORGOTTEN_AFTER_MINUTES },
    ),
    tone: 'bad',
  },
  'listener.back': {
    title: defineMessage('Vote listener works again'),
    hint: defineMessage('It takes votes again.'),
    tone: 'good',
  },
  'votes.expiring': {
    title: defineMessage('Votes about to be given up'),
    hint: defineMessage('A day before waiting votes expire.'),
    tone: 'bad',
  },
  'review.published': {
    title: defineMessage('New reviews'),
    hint: defineMessage('After an operator approved them.'),
    tone: 'quiet',
  },
  'rank.changed': {
    title: defineMessage('Rank'),
    hint: defineMessage('Once a day, if the rank is another one than the day before.'),
    tone: 'quiet',
  },
  milestone: {
    title: defineMessage('Milestones'),
    hint: defineMessage('The votes of all time reach a round number.'),
    tone: 'good',
  },
  'exclusion.decided': {
    title: defineMessage('Excluded votes'),
    hint: defineMessage('An operator takes votes out of the counts, or returns them.'),
    tone: 'attention',
  },
} as const satisfies Record<string, KindDefinition>;

/** What an owner chooses. */
export type EventKind = keyof typeof EVENT_KINDS;
export const EVENT_KIND_NAMES = Object.keys(EVENT_KINDS) as EventKind[];

/** Who wants `vote.counted` gets `vote.excluded` too. */
export const EVENT_TYPES = [...EVENT_KIND_NAMES, 'vote.excluded'] as const;
export type EventType = EventKind | 'vote.excluded';

export function kindOfType(type: EventType): EventKind {
  return type === 'vote.excluded' ? 'vote.counted' : type;
}
