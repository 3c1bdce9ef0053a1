import { COUNTED_AT_MOST, LISTENER_STATES, VOTE_AGES } from '../delivery/count-votes.ts';
import { ATTEMPT_ENDS } from '../events/attempt-log.ts';
import { SUBSCRIPTION_TYPES } from '../events/subscription.ts';
import { DELIVERY_EXPIRES_MS } from '../listeners/delivery-limits.ts';
import { DELIVERY_QUEUES } from '../listeners/delivery-queues.ts';
import { PROTOCOLS } from '../listeners/listener.ts';
import { OUTCOME_CLASSES } from '../listeners/outcomes/outcome-definition.ts';
import { OUTCOME_CODES } from '../listeners/outcomes.ts';
import { SECOND } from '../platform/clock.ts';
import { QUEUE_NAMES } from '../platform/queues.ts';
import { REMINDER_ENDS } from '../reminders/reminder.ts';
import { RANKS_EVERY_MINUTES } from '../votes/ranking-period.ts';
import { JOB_STATES, type WaitingWork } from './waiting-work.ts';

/** `any`: the values are not listed. */
export type Labels = Record<string, readonly string[] | 'any'>;

export type Series<L extends Labels> = {
  [Name in keyof L]: L[Name] extends readonly (infer Value)[] ? Value : string | number;
};

/** The value of one series. The names of the labels are checked, not their values. */
type Sample<L extends Labels> = readonly [labels: Record<keyof L, string>, value: number];

/** From what gauges are read when Prometheus scrapes a process. */
export type Scraped = WaitingWork & {
  /** Undefined before the first ranking, and if MongoDB does not answer. */
  ranksAgeSeconds: number | undefined;
};

type Described<L extends Labels> = {
  labels: L;
  /** The metric's help text. The documentation has it too, followed by `more`, which is Markdown. */
  help: string;
  more?: string;
};

/** Series that start at 0: `rate()` would miss the increase with which a new series begins. */
type Starting<L extends Labels> = { zero?: Record<keyof L, string>[] };

const counter = <const L extends Labels>(definition: Described<L> & Starting<L>) => ({
  kind: 'counter' as const,
  ...definition,
});

const histogram = <const L extends Labels>(
  definition: Described<L> & Starting<L> & { buckets: number[] },
) => ({ kind: 'histogram' as const, ...definition });

/** A gauge that is read at each scrape. If `read` returns no sample for a series, the series is absent. */
const gauge = <const L extends Labels>(
  definition: Described<L> & { read: (scraped: Scraped) => Sample<L>[] },
) => ({ kind: 'gauge' as const, ...definition });

/** A gauge without labels that the process sets. */
const setGauge = (definition: Described<Record<never, never>> & { start: number }) => ({
  kind: 'gauge' as const,
  ...definition,
});

const UP_TO = `${COUNTED_AT_MOST} means that many or more`;

/** docs/operating/every-day.md lists them in this order. */
export const METRICS = {
  tallyport_waiting_work: gauge({
    help: `Work that could be done now: for forward-votes the due votes of reachable listeners (${UP_TO}), else waiting jobs and delayed ones that are due.`,
    labels: { queue: QUEUE_NAMES },
    read: ({ queues }) => Object.entries(queues).map(([queue, { waiting }]) => [{ queue }, waiting]),
  }),
  tallyport_oldest_waiting_work_seconds: gauge({
    help: 'How long the oldest such work has been waiting; 0 when there is none. Scale workers by this metric.',
    more: 'A job that was delayed waits since it was due. For `forward-votes` it counts the due votes of all listeners that answer, throttled backlogs too.',
    labels: { queue: QUEUE_NAMES },
    read: ({ queues }) =>
      Object.entries(queues).map(([queue, { oldestSeconds }]) => [{ queue }, oldestSeconds]),
  }),
  tallyport_waiting_votes: gauge({
    help: `Votes that wait to be sent, by the time since they were cast and the state of their server's listener; ${UP_TO}.`,
    labels: { age: VOTE_AGES, listener: LISTENER_STATES },
    read: ({ waitingVotes }) =>
      Object.entries(waitingVotes).flatMap(([listener, ages]) =>
        Object.entries(ages).map(([age, count]) => [{ age, listener }, count] as const),
      ),
  }),
  tallyport_open_votes: gauge({
    help: `Votes that are waiting or being sent, by the state of their server's listener; ${UP_TO}.`,
    labels: { listener: LISTENER_STATES },
    read: ({ openVotes }) => Object.entries(openVotes).map(([listener, count]) => [{ listener }, count]),
  }),
  tallyport_listeners: gauge({
    help: 'Vote listeners by their state: unreachable ones have an open breaker, paused ones must be resumed by hand.',
    more: 'Of listed servers only. `unverified`: an HTTP listener that has not repeated a challenge yet.',
    labels: { state: LISTENER_STATES },
    read: ({ listeners }) => Object.entries(listeners).map(([state, count]) => [{ state }, count]),
  }),
  tallyport_delivery_attempts_total: counter({
    help: 'Attempts to forward a vote to its listener, by the class and code of their outcome.',
    labels: {
      class: OUTCOME_CLASSES,
      code: OUTCOME_CODES,
      protocol: PROTOCOLS,
    },
    zero: PROTOCOLS.map((protocol) => ({ class: 'none', code: 'our-fault', protocol })),
  }),
  tallyport_delivery_delay_seconds: histogram({
    help: 'Time from the acceptance of a vote, or from the return of its listener, to its acknowledgement; without votes that failed at the listener before.',
    more: 'The later of the two times counts. Tests of unreachable listeners and resends by hand do not count.',
    labels: { queue: DELIVERY_QUEUES },
    // ops/prometheus/alerts.yml needs 10, the delivery objective, and 300, the limit of backlogs.
    buckets: [0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3_600],
    zero: DELIVERY_QUEUES.map((queue) => ({ queue })),
  }),
  tallyport_delivery_latency_seconds: histogram({
    help: 'Time from the acceptance of a vote to its acknowledgement by the listener.',
    more: 'It includes every wait, and does not count resends by hand.',
    labels: { protocol: PROTOCOLS },
    // A vote may arrive at once, or just before it expires.
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300, 1_800, 7_200, 21_600, 86_400].concat(
      DELIVERY_EXPIRES_MS / SECOND,
    ),
  }),
  tallyport_waiting_events: gauge({
    help: `Events that a subscription still has to get, paused ones included; ${UP_TO}.`,
    labels: {},
    read: ({ waitingEvents }) => (waitingEvents === undefined ? [] : [[{}, waitingEvents]]),
  }),
  tallyport_event_attempts_total: counter({
    help: 'Attempts to send an event to a subscription, by their end.',
    more: '`waits`: not tried, because of a limit. `given-up`: the last attempt failed.',
    labels: { type: SUBSCRIPTION_TYPES, end: ATTEMPT_ENDS },
    zero: SUBSCRIPTION_TYPES.flatMap((type) => ATTEMPT_ENDS.map((end) => ({ type, end }))),
  }),
  tallyport_events_dropped_total: counter({
    help: 'Events that were dropped because too many waited for a subscription.',
    labels: { type: SUBSCRIPTION_TYPES },
    zero: SUBSCRIPTION_TYPES.map((type) => ({ type })),
  }),
  tallyport_reminders_total: counter({
    help: 'Due reminders of votes, by their end.',
    more: '`voted`: not sent, because the player has voted meanwhile. `silent`: waits for the morning. `gone`: the push service does not know the browser any more. `refused`: by the push service, or the account cannot get mail.',
    labels: { end: REMINDER_ENDS },
    zero: REMINDER_ENDS.map((end) => ({ end })),
  }),
  tallyport_votes_total: counter({
    help: 'Calls to cast a vote, by result.',
    more: '`replayed`: the idempotency key was used before. `unknown`: the write may or may not have succeeded.',
    labels: { result: ['accepted', 'replayed', 'refused', 'unknown'] },
  }),
  tallyport_http_request_duration_seconds: histogram({
    help: 'Time to answer a request.',
    more: '`route` is the pattern of its path, such as `/api/v1/servers/:serverId/vote`.',
    labels: { method: 'any', route: 'any', status: 'any' },
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  }),
  tallyport_jobs: gauge({
    help: 'Jobs in Redis.',
    more: '`failed` ones need an operator.',
    labels: { queue: QUEUE_NAMES, state: JOB_STATES },
    read: ({ jobs }) => jobs.map(({ queue, state, count }) => [{ queue, state }, count]),
  }),
  tallyport_probes_total: counter({
    help: 'Checks of game servers, by outcome. A canary-failed check says nothing about the server.',
    labels: {
      outcome: ['answered', 'failed', 'canary-failed', 'not-asked', 'void', 'stopped', 'limited', 'no-game'],
    },
  }),
  tallyport_probe_lateness_seconds: gauge({
    help: 'How long the longest waiting server has been due for a probe; 0 when none is due. Grows while no scheduler or worker runs.',
    labels: {},
    read: ({ probeLatenessSeconds }) => [[{}, probeLatenessSeconds ?? 0]],
  }),
  tallyport_canary_up: setGauge({
    help: '0 while the canary fails, which means that our own network is down; 1 again after the next recorded check.',
    more: 'Each process has its own canary.',
    labels: {},
    start: 1,
  }),
  tallyport_ranks_age_seconds: gauge({
    help: `Time since the ranks were computed, which happens every ${RANKS_EVERY_MINUTES} minutes.`,
    more: 'Absent before the first ranking and while MongoDB does not answer.',
    labels: {},
    read: ({ ranksAgeSeconds: age }) => (age === undefined ? [] : [[{}, age]]),
  }),
  tallyport_counter_drift_votes_total: counter({
    help: 'Votes by which counters differed from the votes themselves when they were repaired.',
    labels: {},
  }),
  tallyport_mongodb_up: gauge({
    help: '1 when MongoDB answered the last count.',
    labels: {},
    read: ({ mongodbUp }) => [[{}, mongodbUp ? 1 : 0]],
  }),
  tallyport_redis_up: gauge({
    help: '1 when Redis answers, 0 when it does not.',
    labels: {},
    read: ({ redisUp }) => [[{}, redisUp ? 1 : 0]],
  }),
};

export type MetricName = keyof typeof METRICS;

export type NameOf<Shape> = {
  [Name in MetricName]: (typeof METRICS)[Name] extends Shape ? Name : never;
}[MetricName];

/** The labels of one series of a metric. */
export type SeriesOf<Name extends MetricName> = Series<(typeof METRICS)[Name]['labels']>;
