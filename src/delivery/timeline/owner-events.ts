import { t } from '../../language/t.ts';
import { type Actor, AN_OPERATOR } from '../../servers/actor-names.ts';
import type { TimelineEvent } from './timeline-event.ts';

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
