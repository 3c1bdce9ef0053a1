/**
 * `npm start`: the whole platform on one machine. Web, worker and scheduler are child processes. MongoDB and Redis are
 * our own unless MONGODB_URI and REDIS_URL name others.
 */
import { resolve } from 'node:path';
import { howToBegin } from './all-in-one/how-to-begin.ts';
import { type AllInOne, startAllInOne } from './all-in-one/start.ts';
import { ServiceError } from './own-services/service-error.ts';
import { loadConfig } from './platform/config.ts';
import { ConfigError, DEFAULT_DATA_DIR } from './platform/environment.ts';
import { onStopSignal } from './platform/stop-signals.ts';

const say = (line: string) => console.log(line);
const starting = new AbortController();
let running: AllInOne | undefined;

onStopSignal({
  async first() {
    say('Stopping …');
    starting.abort();
    await running?.stop();
    if (running) process.exit(0);
  },
  second() {
    running?.kill();
    process.exit(1);
  },
});

try {
  const config = loadConfig();
  running = await startAllInOne(config, { log: say, signal: starting.signal });
  const { url } = running;
  const dataDir = config.DATA_DIR === DEFAULT_DATA_DIR ? '' : `DATA_DIR=${config.DATA_DIR} `;
  const begin = await howToBegin(running.config, {
    isTerminal: process.stdout.isTTY === true,
    command: `${dataDir}npm run -s tallyport -- setup-link`,
  });
  say(`
Tallyport runs at ${url}
  API reference  ${url}/docs
  Command line   ${dataDir}npm run -s tallyport -- --help   (in another terminal)
  Data           ${resolve(config.DATA_DIR)}
Ctrl-C stops it.
${begin ? `\n${begin}\n` : ''}`);
} catch (error) {
  if (starting.signal.aborted) process.exit(0);
  const known = error instanceof ConfigError || error instanceof ServiceError;
  console.error(known ? error.message : `Tallyport cannot start: ${error}`);
  process.exit(1);
}
