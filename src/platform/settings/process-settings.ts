import { z } from 'zod';
import { SECOND } from '../clock.ts';
import {
  LEAST_SECRET,
  listenHost,
  mongoUri,
  oneOf,
  port,
  publicUrl,
  redisUrl,
  secretKey,
  trustProxy,
  wholeNumber,
} from '../config-values.ts';
import { DEFAULT_DATA_DIR } from '../environment.ts';
import { setting, settingsSection } from './setting.ts';

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

export const processSettings = settingsSection(
  { title: 'The processes' },
  {
    NODE_ENV: setting(oneOf(['production', 'development', 'test']).default('development'), {
      description:
        'With `production`, nothing starts without `MONGODB_URI`, `REDIS_URL` and `SECRET_KEY`. The image and Compose set it.',
    }),
    HOST: setting(listenHost.default('127.0.0.1'), {
      description: 'The address that the web process listens on. `0.0.0.0` opens it to the network.',
    }),
    PORT: setting(port.default(3000), { description: 'The port of the web process.' }),
    PUBLIC_URL: setting(publicUrl.optional(), {
      description:
        'The address of the listing for users and plugins; may contain a path (https://example.org/listing). A proxy in front must pass the path on unchanged: if it strips /listing, every page answers 404 (nginx: proxy_pass without a path at its end). Without it: http://localhost:PORT.',
      example: 'https://vote.example.org',
    }),
    TRUST_PROXY: setting(trustProxy.default(false), {
      description:
        'Reverse proxies whose X-Forwarded-For is trusted: their number (`1` for a single one), or, if others can reach the port too, their addresses or ranges (`10.0.0.5,fd00::/8`). `false`: clients connect directly. With `false` behind a proxy, all clients share one address and its rate limits. `true` is refused, because every client could choose its own address.',
    }),
    METRICS_HOST: setting(listenHost.default('127.0.0.1'), {
      description: 'The address on which each process shows its health and Prometheus metrics.',
    }),
    METRICS_PORT: setting(port.default(9464), {
      description:
        'The port of health and metrics. Processes on one machine need a port each (`0`: any free one); `npm start` and the Procfile take this one and the next two.',
    }),
    SHUTDOWN_DELAY_MS: setting(wholeNumber(0, 60_000).default(5 * SECOND), {
      description:
        'How long a web process continues after SIGTERM, not ready, until the proxy in front notices. `0`: there is no proxy.',
      unit: 'milliseconds',
    }),
    LOG_LEVEL: setting(oneOf(LOG_LEVELS).default('info'), {
      description: `The least important lines that are logged: \`${LOG_LEVELS.join('`, `')}\`.`,
    }),
  },
);

export const databaseSettings = settingsSection(
  {
    title: 'Databases and the secret key',
    about:
      'Without `MONGODB_URI` and `REDIS_URL`, `npm start` runs MongoDB and Redis itself and stores their data in `DATA_DIR`.',
  },
  {
    MONGODB_URI: setting(mongoUri.optional(), {
      description: 'The address of MongoDB, with the database.',
      example: 'mongodb://127.0.0.1:27017/tallyport',
      secret: true,
      neededInProduction: 'production needs a MongoDB of its own, such as mongodb://db:27017/tallyport',
    }),
    REDIS_URL: setting(redisUrl.optional(), {
      description:
        '`redis://`, `redis+sentinel://host:port,host:port/name` or `redis+cluster://host:port,host:port`; with TLS `rediss://`, `rediss+sentinel://` or `rediss+cluster://`. For Sentinels with a password: `?sentinelPassword=…`.',
      example: 'redis://127.0.0.1:6379',
      secret: true,
      neededInProduction: 'production needs a Redis of its own, such as redis://redis:6379',
    }),
    DATA_DIR: setting(z.string().default(DEFAULT_DATA_DIR), {
      description:
        'The folder with the data of the databases that `npm start` runs, and with their secret key.',
    }),
    SECRET_KEY: setting(secretKey.optional(), {
      description:
        'Encrypts the keys and tokens of listeners, Discord webhooks and stored secrets. Generate it with: `openssl rand -base64 32`. To change it: move the old one to `SECRET_KEY_PREVIOUS` and set a new one.',
      example: '',
      secret: true,
      neededInProduction:
        'make one with `openssl rand -base64 32` and keep it, it encrypts the listener keys',
    }),
    SECRET_KEY_PREVIOUS: setting(
      z
        .string()
        .min(LEAST_SECRET, `must be what SECRET_KEY was before, so at least ${LEAST_SECRET} characters`)
        .optional(),
      { description: 'What `SECRET_KEY` was before.', example: '', secret: true },
    ),
    QUEUE_PREFIX: setting(
      z
        .string()
        .regex(/^[\w-]{1,40}$/, 'must be 1 to 40 letters, digits, _ or -')
        .default('tallyport'),
      {
        description:
          'Begins the names of the queues in Redis. Installations that share a Redis need one each.',
      },
    ),
  },
);
