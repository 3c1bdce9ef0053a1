import type { User } from '../accounts/user.ts';
import { EVENT_KINDS, type EventType, OFFLINE_FOR_MINUTES } from '../events/kinds.ts';
import { defineMessage, filled } from '../language/t.ts';
import { FORGOTTEN_AFTER_MINUTES } from '../listeners/listener-state.ts';

/** What users choose for their mails. */
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
  expiring: EVENT_KINDS['votes.expiring'],
  server: {
    title: EVENT_KINDS['server.offline'].title,
    hint: filled(defineMessage('It is offline for {minutes} minutes; and when it is back.'), {
      minutes: OFFLINE_FOR_MINUTES,
    }),
  },
  review: EVENT_KINDS['review.published'],
  exclusion: EVENT_KINDS['exclusion.decided'],
} as const;

export type Kind = keyof typeof KINDS;
export const KIND_NAMES = Object.keys(KINDS) as Kind[];

/** `type`: of the event that subscriptions get. */
export const EVENTS = {
  paused: { kind: 'listener', type: 'listener.down' },
  unreachable: { kind: 'listener', type: 'listener.down' },
  unfetched: { kind: 'listener', type: 'listener.down' },
  returned: { kind: 'listener', type: 'listener.back' },
  'fetched-again': { kind: 'listener', type: 'listener.back' },
  expiring: { kind: 'expiring', type: 'votes.expiring' },
  offline: { kind: 'server', type: 'server.offline' },
  online: { kind: 'server', type: 'server.online' },
  review: { kind: 'review', type: 'review.published' },
  excluded: { kind: 'exclusion', type: 'exclusion.decided' },
  included: { kind: 'exclusion', type: 'exclusion.decided' },
} as const satisfies Record<string, { kind: Kind; type: EventType }>;

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
