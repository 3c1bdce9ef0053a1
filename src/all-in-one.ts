/**
 * `npm start`: the whole platform on one machine. Web, worker and scheduler are child processes. MongoDB and Redis are
 * our own unless MONGODB_URI and REDIS_URL name others.
 */
import { resolve } from 'node:path';
import { type AllInOne, startAllInOne } from './all-in-one/start.ts';
import { ServiceError } from './own-services/service-error.ts';
import { loadConfig } from './platform/config.ts';
import { ConfigError, inDataDir } from './platform/environment.ts';
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
  running = await startAllInOne(config, { log: say, signal: starting.signal, saysHowToBegin: true });
  const { url, begin } = running;
  say(`
Tallyport runs at ${url}
  API reference  ${url}/docs
  Command line   ${inDataDir(config)}npm run -s tallyport -- --help   (in another terminal)
  Data           ${resolve(config.DATA_DIR)}
Ctrl-C stops it.
${begin ? `\n${begin}\n` : ''}`);
} catch (error) {
  if (starting.signal.aborted) process.exit(0);
  const known = error instanceof ConfigError || error instanceof ServiceError;
  console.error(known ? error.message : `Tallyport cannot start: ${error}`);
  process.exit(1);
}
