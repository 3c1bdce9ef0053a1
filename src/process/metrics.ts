import type { FastifyInstance } from 'fastify';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { COUNTED_AT_MOST } from '../delivery/count-votes.ts';
import { waitedMs } from '../http/waited.ts';
import { DELIVERY_QUEUES, type DeliveryQueue } from '../listeners/delivery-queues.ts';
import { PROTOCOLS, type Protocol } from '../listeners/listener.ts';
import type { Outcome } from '../listeners/outcomes.ts';
import { SECOND } from '../platform/clock.ts';
import { within } from '../platform/deadline.ts';
import type { QueueName } from '../platform/queues.ts';
import type { Checked } from '../probing/check-server.ts';
import type { Check } from '../probing/probe-state.ts';
import { rankedAt } from '../ranking/recompute-ranks.ts';
import type { AppDeps } from './app-deps.ts';
import { createWaitingWork, type WaitingWork } from './waiting-work.ts';

/**
 * The result of a call to cast a vote. `replayed`: its idempotency key was used before. `unknown`: the write may or may
 * not have succeeded.
 */
type VoteResult = 'accepted' | 'replayed' | 'refused' | 'unknown';

/** The result of a probe, or why none was recorded. */
type ProbeOutcome = Check['end'] | Exclude<Checked['kind'], 'recorded'>;

/** The metrics of one process. Adapters and workers increment them; features do not depend on them. */
export type Metrics = {
  /** Counts a finished call to cast a vote. */
  countVoteResult(result: VoteResult): void;
  /** Counts a finished attempt to deliver a vote. */
  attemptEnded(protocol: Protocol, outcome: Pick<Outcome, 'class' | 'code'>): void;
  /** Records a vote that was acknowledged `latencyMs` after it was cast. Not called for votes resent by hand. */
  voteArrived(protocol: Protocol, latencyMs: number): void;
  /** Records how long Tallyport delayed an acknowledged vote (`deliveryDelayMs`), by the queue that sent the vote. */
  voteDelayed(queue: DeliveryQueue, delayMs: number): void;
  /** Counts the votes by which a server's counter of a day was wrong before a repair job corrected it. */
  countersDrifted(votes: number): void;
  /** Counts a finished probe of a game server. */
  probeEnded(outcome: ProbeOutcome): void;
  /** Counts a replaced BullMQ worker: one that took no job although jobs were waiting. */
  workerReplaced(queue: QueueName): void;
  /** Records an answered request. `route` is the pattern, never the path: `/api/v1/servers/:serverId/vote`. */
  requestEnded(request: { method: string; route: string; status: number; durationMs: number }): void;
  /** The content type of `text()`. */
  contentType: string;
  /** All metrics in Prometheus' text format. Waiting work is counted when this is called, at most every 10 s. */
  text(): Promise<string>;
};

type MetricsDeps = Pick<
  AppDeps,
  | 'config'
  | 'servers'
  | 'votes'
  | 'listeners'
  | 'workLeases'
  | 'queues'
  | 'clock'
  | 'producerRedis'
  | 'log'
  | 'mongo'
>;

/** How long a scrape waits for MongoDB at most. */
const SCRAPE_TIMEOUT_MS = 2 * SECOND;

const REQUEST_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** In seconds. A vote may arrive at once, or after up to three days. */
const ARRIVAL_BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300, 1_800, 7_200, 21_600, 86_400, 259_200];
/** In seconds. ops/prometheus/alerts.yml needs 10, the delivery objective, and 300, the limit of backlogs. */
const DELAY_BUCKETS = [0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3_600];

/** Creates the metrics of this process. */
export function createMetrics(sources: MetricsDeps): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];

  const votes = new Counter({
    name: 'tallyport_votes_total',
    help: 'Calls to cast a vote, by result.',
    labelNames: ['result'],
    registers,
  });
  const attempts = new Counter({
    name: 'tallyport_delivery_attempts_total',
    help: 'Attempts to forward a vote to its listener, by the class and code of their outcome.',
    labelNames: ['class', 'code', 'protocol'],
    registers,
  });
  const arrivals = new Histogram({
    name: 'tallyport_delivery_latency_seconds',
    help: 'Time from the acceptance of a vote to its acknowledgement by the listener.',
    labelNames: ['protocol'],
    buckets: ARRIVAL_BUCKETS,
    registers,
  });
  const delays = new Histogram({
    name: 'tallyport_delivery_delay_seconds',
    help: 'Time from the acceptance of a vote, or from the return of its listener, to its acknowledgement; without votes that failed at the listener before.',
    labelNames: ['queue'],
    buckets: DELAY_BUCKETS,
    registers,
  });
  // These series start at 0: `rate()` would miss the increase with which a new series begins.
  for (const queue of DELIVERY_QUEUES) delays.zero({ queue });
  for (const protocol of PROTOCOLS) attempts.inc({ class: 'none', code: 'our-fault', protocol }, 0);
  const probes = new Counter({
    name: 'tallyport_probes_total',
    help: 'Checks of game servers, by outcome. A canary-failed check says nothing about the server.',
    labelNames: ['outcome'],
    registers,
  });
  const canary = new Gauge({
    name: 'tallyport_canary_up',
    help: '0 while the canary fails, which means that our own network is down; 1 again after the next recorded check.',
    registers,
  });
  canary.set(1);
  const requests = new Histogram({
    name: 'tallyport_http_request_duration_seconds',
    help: 'Time to answer a request.',
    labelNames: ['method', 'route', 'status'],
    buckets: REQUEST_BUCKETS,
    registers,
  });
  const drift = new Counter({
    name: 'tallyport_counter_drift_votes_total',
    help: 'Votes by which counters differed from the votes themselves when they were repaired.',
    registers,
  });
  const replaced = new Counter({
    name: 'tallyport_workers_replaced_total',
    help: 'BullMQ workers that took no job although jobs waited, and were replaced.',
    labelNames: ['queue'],
    registers,
  });
  registerWaitingWork(registry, createWaitingWork(sources));
  registerRanksAge(registry, sources);

  return {
    countVoteResult: (result) => votes.inc({ result }),
    attemptEnded: (protocol, outcome) => attempts.inc({ class: outcome.class, code: outcome.code, protocol }),
    voteArrived: (protocol, latencyMs) => arrivals.observe({ protocol }, latencyMs / SECOND),
    voteDelayed: (queue, delayMs) => delays.observe({ queue }, delayMs / SECOND),
    countersDrifted: (votes) => drift.inc(votes),
    workerReplaced: (queue) => replaced.inc({ queue }),
    probeEnded(outcome) {
      probes.inc({ outcome });
      if (outcome === 'canary-failed') canary.set(0);
      else if (outcome === 'answered' || outcome === 'failed') canary.set(1);
    },
    requestEnded: ({ method, route, status, durationMs }) =>
      requests.observe({ method, route, status }, durationMs / SECOND),
    contentType: registry.contentType,
    text: () => registry.metrics(),
  };
}

/** Help text for counts of votes that have an upper limit. */
const UP_TO = `${COUNTED_AT_MOST} means that many or more`;

/** Registers the gauges whose values are read from MongoDB and Redis when they are scraped. */
function registerWaitingWork(registry: Registry, waitingWork: () => Promise<WaitingWork>): void {
  const gauge = (
    name: string,
    help: string,
    labelNames: string[],
    fill: (gauge: Gauge, work: WaitingWork) => void,
  ) =>
    new Gauge({
      name,
      help,
      labelNames,
      registers: [registry],
      async collect() {
        const work = await waitingWork();
        this.reset();
        fill(this, work);
      },
    });

  gauge(
    'tallyport_waiting_work',
    `Work that could be done now: for forward-votes the due votes of reachable listeners (${UP_TO}), else waiting jobs and delayed ones that are due.`,
    ['queue'],
    (gauge, { queues }) => {
      for (const [queue, { waiting }] of Object.entries(queues)) gauge.set({ queue }, waiting);
    },
  );
  gauge(
    'tallyport_oldest_waiting_work_seconds',
    'How long the oldest such work has been waiting; 0 when there is none. Scale workers by this metric.',
    ['queue'],
    (gauge, { queues }) => {
      for (const [queue, { oldestSeconds }] of Object.entries(queues)) gauge.set({ queue }, oldestSeconds);
    },
  );
  gauge(
    'tallyport_open_votes',
    `Votes that are waiting or being sent, by the state of their server's listener; ${UP_TO}.`,
    ['listener'],
    (gauge, { openVotes }) => {
      for (const [listener, count] of Object.entries(openVotes)) gauge.set({ listener }, count);
    },
  );
  gauge(
    'tallyport_waiting_votes',
    `Votes that wait to be sent, by the time since they were cast and the state of their server's listener; ${UP_TO}.`,
    ['age', 'listener'],
    (gauge, { waitingVotes }) => {
      for (const [listener, ages] of Object.entries(waitingVotes)) {
        for (const [age, count] of Object.entries(ages)) gauge.set({ age, listener }, count);
      }
    },
  );
  gauge(
    'tallyport_listeners',
    'Vote listeners by their state: unreachable ones have an open breaker, paused ones must be resumed by hand.',
    ['state'],
    (gauge, { listeners }) => {
      for (const [state, count] of Object.entries(listeners)) gauge.set({ state }, count);
    },
  );
  gauge(
    'tallyport_probe_lateness_seconds',
    'How long the longest waiting server has been due for a probe; 0 when none is due. Grows while no scheduler or worker runs.',
    [],
    (gauge, { probeLatenessSeconds }) => {
      if (probeLatenessSeconds !== undefined) gauge.set(probeLatenessSeconds);
    },
  );
  gauge('tallyport_jobs', 'Jobs in Redis.', ['queue', 'state'], (gauge, { jobs }) => {
    for (const { queue, state, count } of jobs) gauge.set({ queue, state }, count);
  });
  gauge('tallyport_mongodb_up', '1 when MongoDB answered the last count.', [], (gauge, { mongodbUp }) =>
    gauge.set(mongodbUp ? 1 : 0),
  );
  gauge('tallyport_redis_up', '1 when Redis answers, 0 when it does not.', [], (gauge, { redisUp }) =>
    gauge.set(redisUp ? 1 : 0),
  );
}

/** Registers the age of the ranks. It has no value before the first ranking and while MongoDB does not answer. */
function registerRanksAge(registry: Registry, sources: MetricsDeps): void {
  const age = new Gauge({
    name: 'tallyport_ranks_age_seconds',
    help: 'Time since the ranks were computed, which happens every 10 minutes.',
    registers: [],
    async collect() {
      const at = await within(SCRAPE_TIMEOUT_MS, rankedAt(sources)).catch(() => null);
      this.reset();
      if (at) this.set((sources.clock.now().getTime() - at.getTime()) / SECOND);
      else this.remove();
    },
  });
  registry.registerMetric(age);
}

/** Measures every request that `app` answers, including those of plugins registered later. */
export function measureRequests(app: FastifyInstance, metrics: Pick<Metrics, 'requestEnded'>): void {
  app.addHook('onResponse', (request, reply, done) => {
    metrics.requestEnded({
      method: request.method,
      // If no route matches, the path is any text that a client sent. Such a text must not become a label.
      route: request.routeOptions.url ?? 'none',
      status: reply.statusCode,
      durationMs: reply.elapsedTime - waitedMs(request),
    });
    done();
  });
}
