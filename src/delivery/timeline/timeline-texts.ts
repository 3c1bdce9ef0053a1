import { defineMessage, type Text, t } from '../../language/t.ts';
import type { Cause } from '../../listeners/causes.ts';
import { type Actor, AN_OPERATOR } from '../../servers/actor-names.ts';
import type { AttemptEvent, TimelineEvent } from './timeline-event.ts';

/** They follow “started by”. */
const CAUSE_TEXTS: Record<Cause, Text> = {
  cast: defineMessage('the vote'),
  schedule: defineMessage('its schedule'),
  'challenge-retry': defineMessage('the refused challenge'),
  'given-back': defineMessage('the attempt that was given back'),
  resend: defineMessage('the resend'),
  release: defineMessage('the lifted quarantine'),
  'listener-test': defineMessage('the listener’s test'),
  'server-returned': defineMessage('the server’s return'),
  'listener-back': defineMessage('the listener’s return'),
  resume: defineMessage('the resume'),
  'settings-changed': defineMessage('the changed settings'),
};

export function causeText({ wokenBy, relayed }: Pick<AttemptEvent, 'wokenBy' | 'relayed'>): string | null {
  const cause = wokenBy && t(CAUSE_TEXTS[wokenBy]);
  if (!relayed) return cause;
  return cause ? t('{cause}, found by the sweep', { cause }) : t('the sweep');
}

export function eventText(event: Exclude<TimelineEvent, { kind: 'attempt' | 'older-attempts' }>): string {
  switch (event.kind) {
    case 'accepted':
      return t('accepted');
    case 'imported':
      return t('cast elsewhere');
    case 'cooldown-ended':
      return t('the player may vote again, by an operator');
    case 'expired':
      return t('given up: not delivered in time');
    case 'listener-removed':
      return t('removed from the queue: the listener was removed');
    case 'server-removed':
      return t('failed: the server was removed');
    case 'acknowledged-late':
      return event.number === null
        ? t('the acknowledgement came late')
        : t('the acknowledgement of attempt {number} came late', { number: event.number });
    case 'resent':
      return [
        event.by ? t('resent by {by}', { by: event.by }) : t('resent'),
        ...(event.mayArriveTwice ? [t('it may arrive twice')] : []),
      ].join('; ');
    case 'quarantined':
      return event.reason === null
        ? t('quarantined: it looks unusual')
        : t('quarantined: “{reason}”', { reason: event.reason });
    case 'claimed':
      return t('claimed by a plugin (token {token})', { token: event.tokenId });
    case 'released':
      return t('quarantine lifted by an operator');
    case 'restored':
      return t('restored from a backup: what happened to it since is not known');
    case 'excluded':
      return event.reason === null
        ? t('excluded by {by}', { by: event.by })
        : t('excluded by {by}: “{reason}”', { by: event.by, reason: event.reason });
  }
}

/** A vote's events without internal reasons and operators' addresses. */
export function ownerEvents(events: TimelineEvent[], nameOf: (actor: Actor) => string): TimelineEvent[] {
  return events.map((event) => {
    switch (event.kind) {
      case 'resent':
        return { ...event, by: event.by === null ? null : nameOf({ by: event.by, byId: event.byId }) };
      case 'quarantined':
        return { ...event, reason: null };
      case 'excluded':
        return { ...event, by: t(AN_OPERATOR), reason: event.reasonForOwner };
      default:
        return event;
    }
  });
}

/** For `actorNames`: the other events show an owner no name. */
export function actorsOf(events: TimelineEvent[]): Actor[] {
  return events.flatMap((event) =>
    event.kind === 'resent' && event.by ? [{ by: event.by, byId: event.byId }] : [],
  );
}
