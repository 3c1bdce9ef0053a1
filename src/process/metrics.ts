import type { FastifyInstance } from 'fastify';
import { Counter, collectDefaultMetrics, Gauge, Histogram, type LabelValues, Registry } from 'prom-client';
import type { Ended } from '../delivery/drain/record-outcomes.ts';
import { waitedMs } from '../http/waited.ts';
import { SECOND } from '../platform/clock.ts';
import { within } from '../platform/deadline.ts';
import { rankedAt } from '../ranking/recompute-ranks.ts';
import type { AppDeps } from './app-deps.ts';
import { METRICS, type NameOf, type Scraped, type SeriesOf } from './metric-definitions.ts';
import { createWaitingWork } from './waiting-work.ts';

/** Records the metrics of one process (metric-definitions.ts). Adapters and workers do; features never do. */
export type Metrics = {
  count<N extends NameOf<{ kind: 'counter' }>>(name: N, series: SeriesOf<N>, by?: number): void;
  observe<N extends NameOf<{ kind: 'histogram' }>>(name: N, series: SeriesOf<N>, seconds: number): void;
  set(name: NameOf<{ start: number }>, value: number): void;
};

export type Exposition = {
  contentType: string;
  /** Waiting work is counted when this is called, at most every 10 s. */
  text(): Promise<string>;
};

const SCRAPE_TIMEOUT_MS = 2 * SECOND;

export function createMetrics(deps: AppDeps): Metrics & Exposition {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const scraped: ((values: Scraped) => void)[] = [];
  for (const [name, definition] of Object.entries(METRICS)) {
    const { kind, help, labels } = definition;
    const options = { name, help, labelNames: Object.keys(labels), registers: [registry] };
    if (kind === 'counter') {
      const counter = new Counter(options);
      for (const series of definition.zero ?? []) counter.inc(series, 0);
    } else if (kind === 'histogram') {
      const histogram = new Histogram({ ...options, buckets: definition.buckets });
      for (const series of definition.zero ?? []) histogram.zero(series);
    } else {
      const gauge = new Gauge(options);
      if ('start' in definition) gauge.set(definition.start);
      else
        scraped.push((values) => {
          gauge.reset();
          // prom-client resets a gauge without labels to 0.
          if (options.labelNames.length === 0) gauge.remove();
          for (const [series, value] of definition.read(values)) gauge.set(series, value);
        });
    }
  }
  const waitingWork = createWaitingWork(deps);

  return {
    count: (name, series, by = 1) =>
      (registry.getSingleMetric(name) as Counter).inc(series as LabelValues<string>, by),
    observe: (name, series, seconds) =>
      (registry.getSingleMetric(name) as Histogram).observe(series as LabelValues<string>, seconds),
    set: (name, value) => (registry.getSingleMetric(name) as Gauge).set(value),
    contentType: registry.contentType,
    async text() {
      const [work, ranksAgeSeconds] = await Promise.all([waitingWork(), ranksAge(deps)]);
      for (const read of scraped) read({ ...work, ranksAgeSeconds });
      return registry.metrics();
    },
  };
}

async function ranksAge(deps: AppDeps): Promise<number | undefined> {
  const at = await within(SCRAPE_TIMEOUT_MS, rankedAt(deps)).catch(() => null);
  return at ? (deps.clock.now().getTime() - at.getTime()) / SECOND : undefined;
}

/** Counts the attempt, and how long its vote took to arrive: not if it was resent by hand, perhaps weeks later. */
export function countAttempt(metrics: Metrics, { taken, outcome }: Ended, endedAt: number): void {
  const { vote, attempt } = taken;
  const { protocol } = attempt;
  metrics.count('tallyport_delivery_attempts_total', { class: outcome.class, code: outcome.code, protocol });
  const byHand = vote.delivery.events.some(({ kind }) => kind === 'resent');
  if (outcome.class !== 'delivered' || byHand) return;
  const seconds = (endedAt - vote.votedAt.getTime()) / SECOND;
  metrics.observe('tallyport_delivery_latency_seconds', { protocol }, seconds);
}

export function measureRequests(app: FastifyInstance, metrics: Metrics): void {
  app.addHook('onResponse', (request, reply, done) => {
    const series = {
      method: request.method,
      // If no route matches, the path is any text that a client sent. Such a text must not become a label.
      route: request.routeOptions.url ?? 'none',
      status: reply.statusCode,
    };
    const seconds = (reply.elapsedTime - waitedMs(request)) / SECOND;
    metrics.observe('tallyport_http_request_duration_seconds', series, seconds);
    done();
  });
}
