import { type DestinationStream, type Logger, pino, stdSerializers } from 'pino';
import type { Config } from './config.ts';

export type { Logger };

/** Fields whose values never reach a log line, down to the third level of the logged object. */
const SECRET_FIELDS = new Set([
  'authorization',
  'cookie',
  'set-cookie',
  'token',
  'publicKey',
  'secret',
  'password',
]);

const DEEPEST = 3;

/**
 * `fields` without secrets; the object is copied only if it has a secret or an array. pino's own redaction needs a path
 * for each field and level, and takes ten times as long for each line.
 */
function withoutSecrets(fields: object, level = 1): Record<string, unknown> {
  let clean = fields as Record<string, unknown>;
  for (const [key, value] of Object.entries(fields)) {
    const shown = SECRET_FIELDS.has(key) ? '[redacted]' : shownAt(value, level);
    if (shown === value) continue;
    if (clean === fields) clean = { ...fields };
    clean[key] = shown;
  }
  return clean;
}

/** A value without secrets. An error has its own serializer; an object with `toJSON` (an id) needs no redaction. */
function shownAt(value: unknown, level: number): unknown {
  if (typeof value !== 'object' || value === null || level === DEEPEST) return value;
  if (value instanceof Error || 'toJSON' in value) return value;
  return Array.isArray(value)
    ? value.map((one) => shownAt(one, level + 1))
    : withoutSecrets(value, level + 1);
}

/** Standard output, written synchronously: otherwise the process could not exit while nobody reads the output. */
function standardOutput(): DestinationStream {
  const destination = pino.destination({ dest: 1, sync: true });
  destination.on('error', () => undefined);
  return destination;
}

/**
 * Writes JSON lines: events with fields (`event: 'vote.accepted'`), without secrets. A command of the CLI logs `to`
 * another stream than standard output, where its output goes.
 */
export function createLogger(
  config: Pick<Config, 'LOG_LEVEL'>,
  name: string,
  to?: DestinationStream,
): Logger {
  const logger = pino(
    {
      level: config.LOG_LEVEL,
      base: { process: name },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: {
        level: (label) => ({ level: label }),
        log: withoutSecrets,
      },
      serializers: { err: (error: Error) => withoutSecrets({ ...stdSerializers.err(error) }) },
    },
    to ?? standardOutput(),
  );
  // Pino's formatters do not get a child logger's fields, so `child` removes secrets. Children inherit this method.
  const { child } = logger;
  logger.child = function (this: Logger, bindings, ...options) {
    return child.call(this, withoutSecrets(bindings), ...options);
  } as typeof child;
  return logger;
}
