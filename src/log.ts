import { type Logger, pino } from 'pino';
import type { Config } from './config.ts';

export type { Logger };

/** Fields that never reach a log line, wherever they stand. */
const SECRET_FIELDS = ['authorization', 'cookie', 'set-cookie', 'token', 'publicKey', 'secret', 'password'];

/**
 * A logger that writes JSON lines: events with fields (`event: 'vote.accepted'`), secrets taken out.
 *
 * @param process - the process's name in every line: `web`, `worker`, `scheduler`
 * @param to - 1 for standard output; 2 for standard error, where a command's output is something else
 */
export function createLogger(config: Pick<Config, 'LOG_LEVEL'>, process: string, to: 1 | 2 = 1): Logger {
  // Written at once: an asynchronous destination whose reader is gone would keep the process from ending.
  const destination = pino.destination({ dest: to, sync: true });
  destination.on('error', () => undefined);
  return pino(
    {
      level: config.LOG_LEVEL,
      base: { process },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: {
        paths: SECRET_FIELDS.flatMap((field) => [`["${field}"]`, `*["${field}"]`, `*.*["${field}"]`]),
        censor: '[redacted]',
      },
    },
    destination,
  );
}
