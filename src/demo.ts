/**
 * `npm run demo`: the whole platform with forty made-up servers and their fake game servers. The user can cast a vote
 * and see it arrive, stop a listener and see a vote wait, or list a server of their own.
 */
import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { emitKeypressEvents } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { type AllInOne, startAllInOne } from './all-in-one/start.ts';
import { bindCollections } from './database/collections.ts';
import { openTerminal } from './demo/demo-terminal.ts';
import { introduction } from './demo/introduction.ts';
import { isForSamples, type OpenSamples, openSamples } from './demo/list-samples.ts';
import { castLiveVotes, reportLive } from './demo/live-calls.ts';
import { openNewcomer } from './demo/newcomer.ts';
import { openFakeServer } from './demo/open-fake-server.ts';
import type { ListedSample } from './demo/sample-days.ts';
import { fillSamples } from './demo/sample-history.ts';
import { COMING_AND_GOING, comeAndGo } from './demo/sample-listeners.ts';
import { isSamplePlayer } from './demo/sample-players.ts';
import { hasJava, runSampleRelay } from './demo/sample-relay.ts';
import { openSampleUsers } from './demo/sample-users.ts';
import { SAMPLES } from './demo/samples.ts';
import { waitingVotes, watchVotes } from './demo/watch-votes.ts';
import { ServiceError } from './own-services/service-error.ts';
import { SECOND } from './platform/clock.ts';
import { type Config, loadConfig } from './platform/config.ts';
import { ConfigError, ownEnvironment } from './platform/environment.ts';
import { createLogger } from './platform/log.ts';
import { LONG_OPERATION_TIMEOUT_MS, openMongo } from './platform/mongo.ts';
import { onStopSignal } from './platform/stop-signals.ts';
import { type AppDeps, openAppDeps } from './process/app-deps.ts';
import { networkLimits } from './votes/web/network-limits.ts';

/** How long the first server's listener is stopped after the key s or SIGUSR2. */
const AWAY_MS = 20 * SECOND;

/** This many servers at the start of the list belong to the sample owner. */
const OWNED = 3;

const TRAFFIC_EVERY_MS = 15 * SECOND;

const HELP = `npm run demo: the whole platform with made-up servers, on http://localhost:3000.

Settings are environment variables, such as PORT=3410 npm run demo (.env.example lists all). The keys s and Ctrl-C
stop the sample listener for 20 seconds, and the demo.`;

const given = process.argv.slice(2);
if (given.length > 0) {
  const wantsHelp = given.every((argument) => argument === '--help' || argument === '-h');
  console[wantsHelp ? 'log' : 'error'](
    wantsHelp ? HELP : `The demo takes no arguments: ${given.join(' ')}\n\n${HELP}`,
  );
  process.exit(wantsHelp ? 0 : 1);
}

const terminal = openTerminal((line) => console.log(line));
const stopping = new AbortController();
const { signal } = stopping;
let running: AllInOne | undefined;
let opened: AppDeps | undefined;
const background: Promise<unknown>[] = [];
const ENDS_WITHIN_MS = 5 * SECOND;

function listenForKeys(stopListener: () => void): void {
  process.on('SIGUSR2', stopListener);
  if (!process.stdin.isTTY) return;
  emitKeypressEvents(process.stdin);
  process.stdin.setRawMode(true);
  process.stdin.on('keypress', (_text, key: { name?: string; ctrl?: boolean }) => {
    if (key.name === 's' && !key.ctrl) stopListener();
    // In raw mode, Ctrl-C in the terminal sends no signal.
    if ((key.name === 'c' && key.ctrl) || key.name === 'q') process.kill(process.pid, 'SIGINT');
  });
}

/** A server gets live votes when its history is ready. */
async function fill(deps: AppDeps, { listed, votedFor }: OpenSamples, url: string): Promise<void> {
  const ready = new Set<string>();
  const callers = () => votedFor.filter(({ sample }) => ready.has(sample.name));
  background.push(castLiveVotes(url, callers, signal));
  const written = (some: ListedSample[], count: number) => {
    for (const { sample } of some) ready.add(sample.name);
    const [first, ...others] = some.map(({ sample }) => sample.name);
    const names = others.length === 0 ? first : `${first} and ${others.length} more`;
    terminal.say(`${names}: 30 days of made-up history are there (${count} of ${listed.length} servers)`);
  };
  await fillSamples(deps, listed, { written, signal }).catch((error: unknown) => {
    if (!signal.aborted) terminal.say(`the made-up history failed: ${error}`);
  });
}

/** Says why a vote of the demo's user is not delivered, and every 15 s a summary of the votes of made-up players. */
async function watch(deps: AppDeps, { votedFor, down }: OpenSamples): Promise<void> {
  const watched = [...votedFor, ...down];
  for (const { serverId, sample } of watched) {
    const notify = (username: string, message: string) => {
      if (!isSamplePlayer(username)) {
        terminal.highlight(`${sample.name}: the vote of ${username} is ${message}`);
      }
    };
    background.push(watchVotes(deps, serverId, notify, signal));
  }
  while (!signal.aborted) {
    await pause(TRAFFIC_EVERY_MS, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    const counts = watched.map(async ({ serverId, sample }) => {
      return [sample.name, await waitingVotes(deps, serverId)] as const;
    });
    terminal.traffic(new Map(await Promise.all(counts)));
  }
}

async function requireOwnDatabase({ MONGODB_URI: uri }: Config): Promise<void> {
  if (uri === undefined) return;
  const mongo = await openMongo(uri, createLogger({ LOG_LEVEL: 'error' }, 'demo'));
  const isOurs = await isForSamples(bindCollections(mongo)).finally(() => mongo.close());
  if (isOurs) return;
  throw new ConfigError([
    'MONGODB_URI names a database with servers or users in it, and the demo would add made-up ones: start it with MONGODB_URI= and REDIS_URL= empty, or with the name of an empty database',
  ]);
}

async function start(): Promise<void> {
  const env = {
    DATA_DIR: '.data/demo',
    // A Redis that the environment names may contain another installation's queues.
    QUEUE_PREFIX: 'tallyport-demo',
    LOG_LEVEL: 'error',
    SERVICE_NAME: 'Tallyport sample',
    NOTICE: 'Sample data: every server, player, vote and review here is made up.',
    DELIVERY_SCHEDULE: '0s,3s,6s,10s,10s,30s,2m',
    BREAKER_SCHEDULE: '5s,10s,30s',
    RELAY_INTERVAL_MS: '1000',
    STEAM_SIGN_IN: 'on',
    ...ownEnvironment(),
    ALLOWED_PRIVATE_RANGES: '127.0.0.0/8',
    // All vote listeners are on 127.0.0.1, and most belong to one user.
    DESTINATION_LIMIT: '1000',
    ACCOUNT_LIMIT: '1000',
    OPERATOR_TWO_FACTOR: 'optional',
  };
  const config = loadConfig(env);
  await requireOwnDatabase(config);
  const { DATA_DIR: dataDir } = config;
  const addresses = await Promise.all(SAMPLES.map((sample, index) => openFakeServer(sample, index + 1)));
  running = await startAllInOne(config, { log: (line) => console.log(line), env, signal });
  const { url } = running;
  // Writing the history takes longer than the time limit of an API request.
  opened = await openAppDeps(running.config, 'demo', {
    traced: false,
    mongoOperationMs: LONG_OPERATION_TIMEOUT_MS,
  });
  const relayFolder = hasJava() ? join(dataDir, 'relay') : null;
  const samples = await openSamples(opened, addresses, terminal, signal, relayFolder);
  const [first, second] = samples.votedFor;
  if (!first || !second) throw new Error('there are no samples');
  const owned = samples.listed.slice(0, OWNED).map(({ serverId }) => serverId);
  const users = await openSampleUsers(opened, owned);
  const newcomer = await openNewcomer(join(dataDir, 'message.txt'), terminal, signal);
  listenForKeys(() => void first.leave(AWAY_MS));
  const { sample, serverId, token } = first;
  const { slug = '' } = (await opened.servers.findOne({ _id: serverId })) ?? {};
  console.log(
    introduction({
      url,
      dataDir,
      server: { serverId: serverId.toHexString(), slug, name: sample.name, token },
      player: `Steve${randomInt(1_000, 10_000)}`,
      users,
      newcomer,
      awaySeconds: AWAY_MS / SECOND,
      pid: process.pid,
      hasKeys: process.stdin.isTTY,
      relayed: samples.relayed?.sample.name ?? null,
      down: samples.down[0]?.sample.name ?? '',
      holding: { servers: [first.sample.name, second.sample.name], ...networkLimits(running.config) },
    }),
  );
  if (relayFolder && samples.relayed) {
    const served = { serverId: samples.relayed.serverId, folder: relayFolder, url };
    background.push(runSampleRelay(opened, served, (text) => terminal.say(text), signal));
  }
  background.push(fill(opened, samples, url));
  for (const caller of samples.reporting) background.push(reportLive(url, caller, signal));
  background.push(comeAndGo(second, COMING_AND_GOING, signal), watch(opened, samples));
  await Promise.all(background);
}

async function stop(): Promise<never> {
  stopping.abort();
  console.log('Stopping …');
  const ended = Promise.allSettled([started, ...background]);
  await Promise.race([ended, pause(ENDS_WITHIN_MS)]);
  await opened?.close();
  await running?.stop();
  process.exit(0);
}

onStopSignal({
  first: () => void stop(),
  second() {
    running?.kill();
    process.exit(1);
  },
});

const started = start();
try {
  await started;
} catch (error) {
  if (!signal.aborted) {
    const known = error instanceof ConfigError || error instanceof ServiceError;
    console.error(known ? error.message : `The demo cannot start: ${error}`);
    await running?.stop();
    process.exit(1);
  }
}
