/**
 * `npm run demo`: the whole platform with a sample server and a Votifier listener that stands in for its game
 * server. Cast a vote and see it arrive; stop the listener and see it wait.
 */
import { randomInt } from 'node:crypto';
import { emitKeypressEvents } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { ObjectId } from 'mongodb';
import { type AllInOne, startAllInOne } from './all-in-one/start.ts';
import { onStopSignal } from './all-in-one/stop-signals.ts';
import { SECOND } from './clock.ts';
import { ConfigError, loadConfig, ownEnvironment } from './config.ts';
import { ServiceError } from './embedded/service-error.ts';
import { openPlatform, type Platform } from './platform.ts';
import { SampleGameServer } from './sample/game-server.ts';
import { SAMPLE_MAX_PLAYERS, samplePlayersAt, writeSampleHistory } from './sample/sample-history.ts';
import { openSamplePeople, type SamplePeople } from './sample/sample-people.ts';
import { openSampleServer, type SampleServer } from './sample/sample-server.ts';
import { VotifierListener } from './sample/votifier-listener.ts';
import { watchVotes } from './sample/watch-votes.ts';

/** How long the listener stays away when it is asked to. */
const AWAY_MS = 20 * SECOND;

const say = (line: string) => console.log(line);
const stopping = new AbortController();
let running: AllInOne | undefined;
let opened: Platform | undefined;

function time(): string {
  return new Date().toISOString().slice(11, 19);
}

function openListener(): VotifierListener {
  return new VotifierListener({
    onVote({ username, serviceName, timestamp, uuid }) {
      const cast = typeof timestamp === 'number' ? new Date(timestamp).toISOString() : timestamp;
      say(
        `${time()}  the listener received a vote: ${JSON.stringify({ username, serviceName, timestamp: cast, uuid })}`,
      );
    },
  });
}

function openGame(): SampleGameServer {
  return new SampleGameServer({
    motd: 'A §asample server§r of Tallyport',
    version: '1.21.4',
    players: () => ({ online: samplePlayersAt(new Date()), max: SAMPLE_MAX_PLAYERS }),
  });
}

/** Fills in what the sample server did before this demo, while the demo is used already. */
async function writeHistory(platform: Platform, { serverId }: SampleServer): Promise<void> {
  try {
    if (await writeSampleHistory(platform, new ObjectId(serverId)))
      say(`${time()}  30 days of made-up history of the sample server are there`);
  } catch (error) {
    if (!stopping.signal.aborted) say(`${time()}  the sample server's history failed: ${error}`);
  }
}

/** Stops the listener for a while, once at a time. */
function holidays(listener: VotifierListener): () => Promise<void> {
  let away = false;
  return async () => {
    if (away) return;
    away = true;
    await listener.stop();
    say(`${time()}  the listener is stopped for ${AWAY_MS / SECOND} s: cast a vote now and see it wait`);
    await pause(AWAY_MS, undefined, { signal: stopping.signal }).catch(() => undefined);
    if (stopping.signal.aborted) return;
    await listener.start();
    away = false;
    say(
      `${time()}  the listener is back: waiting votes arrive with their next attempt, within half a minute`,
    );
  };
}

function listenForKeys(stopListener: () => Promise<void>): void {
  if (!process.stdin.isTTY) return;
  emitKeypressEvents(process.stdin);
  process.stdin.setRawMode(true);
  process.stdin.on('keypress', (_text, key: { name?: string; ctrl?: boolean }) => {
    if (key.name === 's' && !key.ctrl) void stopListener();
    // In raw mode the terminal sends no signal.
    if ((key.name === 'c' && key.ctrl) || key.name === 'q') process.kill(process.pid, 'SIGINT');
  });
}

function introduction(url: string, sample: SampleServer, people: SamplePeople, dataDir: string): string {
  const player = `Steve${randomInt(1_000, 10_000)}`;
  return `
Tallyport demo at ${url}

Cast a vote, as a plugin would:

  curl -X POST ${url}/api/v1/servers/${sample.serverId}/vote \\
    -H 'Authorization: Bearer ${sample.token}' \\
    -H 'Content-Type: application/json' -d '{"username": "${player}"}'

It arrives below, as the game server's vote listener received it. Stop that listener for ${AWAY_MS / SECOND} s
${process.stdin.isTTY ? 'with the key s, or from another terminal with' : 'from another terminal with'}

  kill -USR2 ${process.pid}

See what is known of the server; its last 30 days are made up, and it is probed as any other from now on:

  curl ${url}/api/v1/servers/${sample.serverId}/info \\
    -H 'Authorization: Bearer ${sample.token}'

  Sign in at     ${url}/sign-in
    as its owner       ${people.owner.email}      ${people.owner.password}
    as the operator    ${people.operator.email}   ${people.operator.password}
  API reference  ${url}/docs
  Command line   DATA_DIR=${dataDir} npm run -s tallyport -- vote list ${sample.slug}

Ctrl-C ends the demo.
`;
}

async function stop(): Promise<never> {
  stopping.abort();
  say('Stopping …');
  await opened?.close();
  await running?.stop();
  process.exit(0);
}

onStopSignal({
  first: () => {
    void stop();
  },
  second() {
    running?.kill();
    process.exit(1);
  },
});

try {
  const env = {
    DATA_DIR: '.data/demo',
    LOG_LEVEL: 'error',
    // Sooner than a real listing would, so that nobody waits long to see it.
    DELIVERY_SCHEDULE: '0s,3s,6s,10s,10s,30s,2m',
    BREAKER_SCHEDULE: '5s,10s,30s',
    RELAY_INTERVAL_MS: '1000',
    ...ownEnvironment(),
    ALLOWED_PRIVATE_RANGES: '127.0.0.0/8',
    // Nobody wants to set up an app for a quick look.
    OPERATOR_TWO_FACTOR: 'optional',
  };
  const config = loadConfig(env);
  running = await startAllInOne(config, { log: say, env });
  opened = await openPlatform(running.config, 'demo');
  const listener = openListener();
  await listener.start();
  const game = openGame();
  await game.start();
  const sample = await openSampleServer(opened, { listener, game });
  const people = await openSamplePeople(opened, new ObjectId(sample.serverId));
  const stopListener = holidays(listener);
  process.on('SIGUSR2', () => void stopListener());
  listenForKeys(stopListener);
  say(introduction(running.url, sample, people, config.DATA_DIR));
  void writeHistory(opened, sample);
  const tell = (username: string, news: string) => say(`${time()}  the vote of ${username} is ${news}`);
  await watchVotes(opened, new ObjectId(sample.serverId), tell, stopping.signal);
} catch (error) {
  if (!stopping.signal.aborted) {
    const known = error instanceof ConfigError || error instanceof ServiceError;
    console.error(known ? error.message : `The demo cannot start: ${error}`);
    await running?.stop();
    process.exit(1);
  }
}
