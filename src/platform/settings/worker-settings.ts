import { HOUR, MINUTE, SECOND } from '../clock.ts';
import { canaryList, durations, oneOf, wholeNumber } from '../config-values.ts';
import { setting, settingsSection } from './setting.ts';

export const workerSettings = settingsSection(
  { title: 'Workers' },
  {
    WORKER_CONCURRENCY: setting(wholeNumber(1, 1_000).default(256), {
      description:
        'The number of listeners that answer (queue `forward-votes`) that one worker process serves at once.',
    }),
    TEST_CONCURRENCY: setting(wholeNumber(0, 1_000).default(256), {
      description:
        'The number of listeners under test (`test-listeners`; one vote at a time each) that one worker process serves at once. `0` leaves the queue to other workers.',
    }),
    BACKLOG_CONCURRENCY: setting(wholeNumber(0, 1_000).default(16), {
      description:
        'The number of listeners with a backlog (`drain-backlogs`) that one worker process serves at once. `0` leaves the queue to other workers.',
    }),
    ANSWER_CONCURRENCY: setting(wholeNumber(0, 1_000).default(64), {
      description:
        'The checks and tests for people who wait for the result (`answer-now`) that one worker process makes at once; `0`: none.',
    }),
    PROBES: setting(oneOf(['on', 'off']).default('on'), {
      description: 'With `off`, the listing uses only the reports of its servers.',
    }),
    PROBE_CONCURRENCY: setting(wholeNumber(1, 1_000).default(128), {
      description: 'The number of servers that one worker process probes at once.',
    }),
    CANARY_ADDRESSES: setting(canaryList.default([]), {
      description:
        'Services on another network, host:port (TCP) or game@host:port. While none of them answers, Tallyport assumes that its own network is down and calls no server offline. Without them it assumes this while more than half of the servers fail.',
      example: 'example.org:443,minecraft@play.example.org:25565',
    }),
  },
);

export const deliverySettings = settingsSection(
  { title: 'Delivery' },
  {
    RELAY_INTERVAL_MS: setting(wholeNumber(100, 60_000).default(5 * SECOND), {
      description: 'How often each worker looks in MongoDB for due votes that have no job in Redis.',
      unit: 'milliseconds',
    }),
    LEASE_MS: setting(wholeNumber(1_000, 600_000).default(30 * SECOND), {
      description:
        'How long a worker has a listener or periodic work for itself unless it renews the lease: at least 4 × `LISTENER_TIMEOUT_MS` + 2000.',
      unit: 'milliseconds',
    }),
    LISTENER_TIMEOUT_MS: setting(wholeNumber(100, 8_000).default(5 * SECOND), {
      description:
        'The timeout of each step of an attempt. After ambiguous outcomes the answer has three, then six times as long; leases grow with it.',
      unit: 'milliseconds',
    }),
    DELIVERY_SCHEDULE: setting(
      durations.default([
        0,
        5 * SECOND,
        30 * SECOND,
        2 * MINUTE,
        10 * MINUTE,
        30 * MINUTE,
        HOUR,
        2 * HOUR,
        4 * HOUR,
        6 * HOUR,
      ]),
      {
        description:
          'The times between the attempts of a vote. The first entry is not used: the first attempt starts at once. The last one repeats (docs/delivery.md).',
      },
    ),
    BREAKER_SCHEDULE: setting(durations.default([5 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE]), {
      description:
        'The times between the tests of a listener that cannot be reached. The last one repeats (docs/delivery.md).',
    }),
    CLOCK_OFFSET_MS: setting(wholeNumber(-4_000_000_000_000, 4_000_000_000_000).default(0), {
      description: 'Moves the clock.',
      unit: 'milliseconds',
      onlyForTests: 'moves the clock and is only for tests',
    }),
  },
);
