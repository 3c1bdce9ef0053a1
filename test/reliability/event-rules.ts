/** The judge's rules of events, for servers whose destination works in the end. */
import { append } from './facts.ts';
import type { EventReceipt, History, Listed } from './history.ts';

/**
 * A destination that works again has the event of each vote at least once, and none of a vote that is not stored.
 */
export function eachVoteHasItsEvent({ votes, servers, events }: History): string[] {
  return servers
    .filter(({ goalTarget }) => goalTarget)
    .flatMap(({ serverId }) => {
      const stored = new Set(votes.filter((vote) => vote.serverId === serverId).map(({ voteId }) => voteId));
      const told = new Set(eventsOf({ serverId }, events, 'vote.counted').map(({ about }) => about));
      return [
        ...[...stored.difference(told)].map((voteId) => `no destination got the event of the vote ${voteId}`),
        ...[...told.difference(stored)].map(
          (voteId) => `an event told of the vote ${voteId}, which is not stored`,
        ),
      ];
    });
}

/** A repeated event has the id of the first; no two events share one. */
export function anEventHasOneId({ events }: History): string[] {
  const idsByEvent = new Map<string, string[]>();
  const eventsById = new Map<string, string[]>();
  for (const { serverId, eventId, type, about } of events) {
    const event = `${serverId} ${type} ${about}`;
    append(idsByEvent, event, eventId);
    append(eventsById, eventId, event);
  }
  return [...idsByEvent, ...eventsById]
    .filter(([, others]) => new Set(others).size > 1)
    .map(([what, others]) => `${what} came as ${[...new Set(others)].join(' and ')}`);
}

/** Round n of a rolling goal is reached at n × target votes. */
export function goalsAreReachedByCount({ votes, servers, events }: History): string[] {
  return servers.flatMap(({ serverId, goalTarget }) => {
    if (!goalTarget) return [];
    const stored = votes.filter((vote) => vote.serverId === serverId).length;
    const rounds = Array.from({ length: Math.floor(stored / goalTarget) }, (_, i) => `round ${i + 1}`);
    const told = new Set(eventsOf({ serverId }, events, 'goal.reached').map(({ about }) => about));
    return [...told.symmetricDifference(new Set(rounds))].map(
      (round) =>
        `${serverId} has ${stored} votes, and ${round} of ${goalTarget} votes was ${told.has(round) ? '' : 'not '}told`,
    );
  });
}

function eventsOf({ serverId }: Pick<Listed, 'serverId'>, events: EventReceipt[], type: string) {
  return events.filter((event) => event.serverId === serverId && event.type === type);
}
