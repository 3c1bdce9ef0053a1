import type { User } from '../accounts/user.ts';
import { defineMessage, filled } from '../language/t.ts';
import { FORGOTTEN_AFTER_MINUTES } from '../listeners/listener-state.ts';

/** Owners are not notified earlier: restarts take less time. */
export const OFFLINE_FOR_MINUTES = 10;

/** A kind can be off for a user's mails, or for a webhook. */
export const KINDS = {
  listener: {
    title: defineMessage('Vote listener'),
    hint: filled(
      defineMessage(
        'It is paused because of an error, unreachable for an hour, or votes wait and nobody fetches them for {minutes} minutes; and when it works again.',
      ),
      { minutes: FORGOTTEN_AFTER_MINUTES },
    ),
  },
  expiring: {
    title: defineMessage('Votes about to be given up'),
    hint: defineMessage('A day before waiting votes expire.'),
  },
  server: {
    title: defineMessage('Server offline'),
    hint: filled(defineMessage('It is offline for {minutes} minutes; and when it is back.'), {
      minutes: OFFLINE_FOR_MINUTES,
    }),
  },
  review: { title: defineMessage('New reviews'), hint: defineMessage('After an operator approved them.') },
  exclusion: {
    title: defineMessage('Excluded votes'),
    hint: defineMessage('An operator takes votes out of the counts, or returns them.'),
  },
} as const;

export type Kind = keyof typeof KINDS;
export const KIND_NAMES = Object.keys(KINDS) as Kind[];

export const EVENTS = {
  paused: { kind: 'listener', tone: 'bad' },
  unreachable: { kind: 'listener', tone: 'bad' },
  unfetched: { kind: 'listener', tone: 'bad' },
  returned: { kind: 'listener', tone: 'good' },
  'fetched-again': { kind: 'listener', tone: 'good' },
  expiring: { kind: 'expiring', tone: 'bad' },
  offline: { kind: 'server', tone: 'bad' },
  online: { kind: 'server', tone: 'good' },
  review: { kind: 'review', tone: 'quiet' },
  excluded: { kind: 'exclusion', tone: 'attention' },
  included: { kind: 'exclusion', tone: 'good' },
} as const satisfies Record<string, { kind: Kind; tone: EventTone }>;

export type EventTone = 'good' | 'attention' | 'bad' | 'quiet';
export type EventName = keyof typeof EVENTS;

/** Mails about the account's security have no kind: they are always sent. */
export function wantsMailOf(
  { wantsMail, mailOff }: Pick<User, 'wantsMail' | 'mailOff'>,
  kind: Kind,
): boolean {
  return wantsMail !== false && !mailOff?.includes(kind);
}

/** If no kind is chosen, kinds of later versions are off too. */
export function mailSetting(chosen: readonly Kind[]): Pick<User, 'wantsMail' | 'mailOff'> {
  const off = KIND_NAMES.filter((kind) => !chosen.includes(kind));
  return { wantsMail: chosen.length > 0, mailOff: off };
}
