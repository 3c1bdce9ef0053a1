import { readGoalProgress } from '../../goals/goal-progress.ts';
import type { EventsDeps } from '../deps.ts';
import type { DestinationResult, EventOutcome, SendHow } from '../destination.ts';
import { dashboardUrl } from '../event-text.ts';
import { EVENT_KINDS, kindOfType } from '../kinds.ts';
import type { ResolvedEvent } from '../resolve-events.ts';
import type { Subscription } from '../subscription.ts';
import { openSubscribedWebhook } from '../subscription-secret.ts';
import { type DiscordAnswer, postMessage } from './discord-client.ts';
import { type Embed, embedOf, embedsMessage, inMessages, TONE_COLOURS } from './discord-embed.ts';
import { eventSentences } from './event-sentences.ts';
import { DEFAULT_TEMPLATE, filledTemplate, usesGoal } from './vote-template.ts';

/** An embed, and the events that are in it. */
type Part = { embed: Embed; events: ResolvedEvent[] };

/**
 * Sends all events in as few messages as Discord's limits allow: the votes in one embed, the others in one each. As
 * `SendToDestination`.
 */
export async function sendToDiscord(
  deps: EventsDeps,
  subscription: Subscription,
  events: ResolvedEvent[],
  { signal }: SendHow,
): Promise<DestinationResult> {
  const key = openSubscribedWebhook(deps.secrets, subscription);
  const waiting = inMessages(await partsOf(deps, subscription, events));
  const outcomes: EventOutcome[] = [];
  for (let parts = waiting.shift(); parts && !signal.aborted; parts = waiting.shift()) {
    const began = performance.now();
    const answer = await postMessage(deps, key, embedsMessage(parts.map(({ embed }) => embed)), signal);
    // The process is being stopped: the events stay due.
    if (signal.aborted && answer.kind === 'unavailable') break;
    // Discord does not say which embed it refuses: each is sent alone.
    if (answer.kind === 'refused' && parts.length > 1) {
      waiting.unshift(...parts.map((part) => [part]));
      continue;
    }
    const durationMs = Math.round(performance.now() - began);
    const { end, isLast, ...result } = meaningOf(answer);
    for (const { _id } of parts.flatMap((part) => part.events))
      outcomes.push({ eventId: _id, durationMs, ...end });
    if (isLast) return { outcomes, ...result };
  }
  return { outcomes };
}

type Meaning = Pick<DestinationResult, 'isGone' | 'waitMs'> & {
  end: Pick<EventOutcome, 'end' | 'status' | 'reason'>;
  /** Further messages would end in the same way. */
  isLast: boolean;
};

/** `isGone` is an `OffReason`. */
function meaningOf(answer: DiscordAnswer): Meaning {
  switch (answer.kind) {
    case 'sent':
      return { end: { end: 'sent', status: answer.status }, isLast: false };
    case 'refused':
      return { end: { end: 'refused', status: answer.status, reason: answer.reason }, isLast: false };
    case 'limited': {
      const { status, retryAfterMs: waitMs } = answer;
      // Without a status, Discord was not asked.
      return { end: { end: 'waits', ...(status ? { status } : {}) }, waitMs, isLast: true };
    }
    case 'unavailable': {
      const { status, reason } = answer;
      return { end: { end: 'retry', reason, ...(status ? { status } : {}) }, isLast: true };
    }
    case 'blocked':
      return { end: { end: 'retry', reason: 'address-refused' }, isLast: true };
    case 'no-message':
      return { end: { end: 'refused', reason: answer.kind }, isLast: false };
    default:
      return { end: { end: 'refused', reason: answer.kind }, isGone: answer.kind, isLast: true };
  }
}

async function partsOf(
  deps: EventsDeps,
  subscription: Subscription,
  events: ResolvedEvent[],
): Promise<Part[]> {
  const {
    counted = [],
    excluded = [],
    others = [],
  } = Object.groupBy(events, ({ type, text }) => {
    if (text) return 'others';
    if (type === 'vote.counted') return 'counted';
    return type === 'vote.excluded' ? 'excluded' : 'others';
  });
  return [
    ...(counted.length > 0 ? [await votesPart(deps, subscription, counted)] : []),
    ...(excluded.length > 1 ? [excludedPart(deps, excluded)] : excluded.map((event) => partOf(deps, event))),
    ...others.map((event) => partOf(deps, event)),
  ];
}

async function votesPart(
  deps: EventsDeps,
  { template: own, serverId }: Subscription,
  votes: ResolvedEvent[],
): Promise<Part> {
  const template = own || DEFAULT_TEMPLATE;
  const inOrder = votes.toSorted((a, b) => a.at.getTime() - b.at.getTime());
  const newest = inOrder.at(-1) as ResolvedEvent;
  const { server_name: server, server_url: url, monthly_votes: monthlyVotes } = newest.data;
  const goal = usesGoal(template) ? await readGoalProgress(deps, serverId) : null;
  const names = inOrder.map(({ data }) => data.username ?? null);
  const shown = { names, monthlyVotes: Number(monthlyVotes), server, url, goal };
  const embed = {
    description: filledTemplate(template, shown),
    color: TONE_COLOURS.good,
    timestamp: newest.at.toISOString(),
    footer: { text: deps.config.SERVICE_NAME },
  };
  return { embed, events: votes };
}

/** An exclusion may concern thousands of votes. */
function excludedPart({ config }: EventsDeps, votes: ResolvedEvent[]): Part {
  const [first] = votes as [ResolvedEvent];
  const { server_name: server, server_url: url } = first.data;
  const subject = `${server}: ${votes.length} votes no longer count`;
  const text = { tone: 'attention', subject, paragraphs: ['An operator excluded them.'], url } as const;
  return { embed: embedOf({ ...text, at: first.at }, config), events: votes };
}

/** A text is for the owner: its link leads to the dashboard. */
function partOf({ config }: EventsDeps, event: ResolvedEvent): Part {
  const { type, at, data, text } = event;
  const { tone } = EVENT_KINDS[kindOfType(type)];
  const url = text ? dashboardUrl(config, event.serverId, text.part) : data.server_url;
  const sentences = text ?? eventSentences(event);
  const subject = `${data.test ? 'Test: ' : ''}${data.server_name}: ${sentences.subject}`;
  const embed = embedOf({ tone, subject, paragraphs: sentences.paragraphs, url, at }, config);
  return { embed, events: [event] };
}
