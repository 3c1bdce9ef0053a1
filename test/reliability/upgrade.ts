import { setTimeout as pause } from 'node:timers/promises';
import { migrate } from '../../src/database/migrate.ts';
import type { Binary } from '../../src/own-services/binary.ts';
import { freePort } from '../../src/own-services/free-port.ts';
import { MINUTE, SECOND } from '../../src/platform/clock.ts';
import { type ConnectedConfig, loadConfig } from '../../src/platform/config.ts';
import { ownEnvironment, type Variables } from '../../src/platform/environment.ts';
import { createLogger } from '../../src/platform/log.ts';
import { openAppDeps } from '../../src/process/app-deps.ts';
import { type LoadBalancer, startLoadBalancer } from '../support/load-balancer.ts';
import { startMongod, startRedis } from '../support/services.ts';
import { concludeHistory } from './conclude-history.ts';
import type { History, Receipt } from './history.ts';
import { startLoad } from './load.ts';
import { randomNumbers } from './plan.ts';
import { type ControlledProgram, program, THIS_VERSION } from './process-control.ts';
import { ENVIRONMENT, SHORT_SCHEDULES, untilReady } from './processes.ts';
import { listerOfRelease, type Release, unpackRelease } from './release.ts';
import { addTarget, type Target } from './targets.ts';

export type UpgradeOptions = {
  binaries: { mongod: Binary; redis: Binary };
  /** The release that is upgraded to this version. */
  from: string;
  votesPerSecond: number;
  /** How long the processes run between two steps. */
  steadyMs: number;
  /** Adds documents to the database of the earlier release before the load begins. */
  fill?: (mongodbUri: string) => Promise<void>;
  say?: (line: string) => void;
};

/** What happened during an upgrade. */
export type Upgrade = {
  history: History;
  /** Requests other than votes: how many there were, and those that were not answered with 200. */
  failedReads: string[];
  reads: number;
  /** When each step began (Unix time), and how long it took; in milliseconds. */
  steps: { name: string; startedAt: number; ms: number }[];
};

/** Pages and API requests that both versions answer with 200. */
const READS = ['/', '/healthz', 'info', 'check-vote?username=Steve'];
const READ_EVERY_MS = 100;

/** A request that takes long on a busy machine has not failed. */
const ANSWER_TIMEOUT_MS = MINUTE;

/** A web process says that it is not ready for this long before it closes. The load balancer looks once a second. */
const SHUTDOWN_DELAY_MS = '2500';

/** All listeners are up: if one answers late on a busy machine, it must not count as down. */
const PATIENT = { LISTENER_TIMEOUT_MS: '8000', LEASE_MS: '40000' };

/** A process in both versions; one of them runs. */
type Member = { url: string; old: ControlledProgram; current: ControlledProgram };

/**
 * Upgrades the running processes of an earlier release as docs/operating/every-day.md says, under load: the migration,
 * then workers, scheduler and web processes one after the other. Then it goes back to the earlier release, in the
 * reverse order. Returns the history for the judge.
 */
export async function runUpgrade(options: UpgradeOptions): Promise<Upgrade> {
  const { binaries, votesPerSecond, steadyMs, say = () => undefined } = options;
  const mongod = await startMongod({ binary: binaries.mongod, onDisk: true });
  const redis = await startRedis({ binary: binaries.redis });
  const release = await unpackRelease(options.from);
  const env: Variables = {
    ...ownEnvironment(),
    ...ENVIRONMENT,
    ...SHORT_SCHEDULES,
    ...PATIENT,
    MONGODB_URI: `${mongod.uri}/upgrade`,
    REDIS_URL: redis.url,
    SHUTDOWN_DELAY_MS,
  };
  const crashes: string[] = [];
  const receipts: Receipt[] = [];
  const targets: Target[] = [];
  const steps: Upgrade['steps'] = [];
  const closing: (() => unknown)[] = [];
  const step = async (name: string, work: () => Promise<unknown>) => {
    const startedAt = Date.now();
    await work();
    const ms = Date.now() - startedAt;
    steps.push({ name, startedAt, ms });
    say(`${(ms / SECOND).toFixed(1).padStart(7)} s  ${name}`);
  };
  try {
    await release.tallyport(env, 'migrate');
    const lister = listerOfRelease(release, env);
    for (const protocol of ['votifier-v2', 'http', 'votifier-v1'] as const) {
      targets.push(await addTarget(lister, { name: `Upgrade ${protocol}`, protocol }, receipts));
    }
    await options.fill?.(env.MONGODB_URI ?? '');

    const members = await membersOf(release, env, (what) => void crashes.push(what));
    closing.push(
      ...members.all.map(
        ({ old, current }) =>
          () =>
            Promise.all([old.kill(), current.kill()]),
      ),
    );
    await Promise.all(members.all.map(({ old }) => old.start()));
    await Promise.all(members.all.map(({ url }) => untilReady(url)));
    const balancer = await startLoadBalancer(members.webs);
    closing.push(() => balancer.close());

    const beganAt = new Date();
    const urls = [balancer.url, balancer.url];
    const load = startLoad(targets, urls, votesPerSecond, randomNumbers(1), ANSWER_TIMEOUT_MS);
    const reading = startReading(balancer.url, targets[0] as Target);
    const steady = () => pause(steadyMs);
    const config = loadConfig(env) as ConnectedConfig;
    const background = [...members.workers, members.scheduler];

    await step(`${options.from} under load`, steady);
    await step('migrate', () => migrate(config, createLogger({ LOG_LEVEL: 'error' }, 'upgrade')));
    await step(`${options.from} on the migrated database`, steady);
    await step('workers and scheduler', () => eachInTurn(background, upgrade));
    await step('both versions', steady);
    await step('web processes', () => eachInTurn(members.webs, (web) => upgradeWeb(balancer, web)));
    await step('this version', steady);
    await step('web processes go back', () => eachInTurn(members.webs, (web) => goBackWeb(balancer, web)));
    await step('workers and scheduler go back', () => eachInTurn(background, goBack));
    await step(`${options.from} again`, steady);
    await load.stop();
    const { reads, failedReads } = await reading.stop();
    const faultsEndedAt = Date.now();

    const deps = await openAppDeps(config, 'upgrade', {
      log: createLogger({ LOG_LEVEL: 'silent' }, 'upgrade'),
      mongoOperationMs: MINUTE,
    });
    closing.push(() => deps.close());
    const seen = { calls: load.calls, receipts, events: [], crashes, faultsEndedAt };
    const history = await concludeHistory(deps, { urls, targets, destinations: [], beganAt }, seen);
    return { history, reads, failedReads, steps };
  } finally {
    for (const close of closing.toReversed()) await close();
    for (const target of targets) await target.close();
    await Promise.all([mongod.stop(), redis.stop()]);
    await release.remove();
  }
}

/** The web process of 0.1.0 starts from `src/server.ts`. */
async function membersOf(release: Release, env: Variables, died: (what: string) => void) {
  const member = async (entry: string, portName: 'PORT' | 'METRICS_PORT'): Promise<Member> => {
    const port = await freePort();
    const own = { ...env, [portName]: String(port) };
    const of = (root: string, path = entry) => program(path, own, died, root);
    const old = of(release.root, entry === 'src/web.ts' ? 'src/server.ts' : entry);
    return { url: `http://127.0.0.1:${port}`, old, current: of(THIS_VERSION) };
  };
  const webs = [await member('src/web.ts', 'PORT'), await member('src/web.ts', 'PORT')];
  const workers = [
    await member('workers/main.ts', 'METRICS_PORT'),
    await member('workers/main.ts', 'METRICS_PORT'),
  ];
  const scheduler = await member('workers/scheduler.ts', 'METRICS_PORT');
  return { webs, workers, scheduler, all: [...webs, ...workers, scheduler] };
}

async function eachInTurn(members: Member[], replace: (member: Member) => Promise<void>): Promise<void> {
  for (const member of members) await replace(member);
}

async function upgrade({ url, old, current }: Member): Promise<void> {
  await old.end();
  await current.start();
  await untilReady(url);
}

/** 0.1.0 closes at once when it ends, so the load balancer must stop sending first. */
async function upgradeWeb(balancer: LoadBalancer, web: Member): Promise<void> {
  await balancer.drain(web);
  await upgrade(web);
  balancer.restore(web);
  await untilSent(balancer, web);
}

/** This version says that it is not ready before it closes: that is enough for the load balancer. */
async function goBackWeb(balancer: LoadBalancer, web: Member): Promise<void> {
  await goBack(web);
  await untilSent(balancer, web);
}

async function goBack({ url, old, current }: Member): Promise<void> {
  await current.end();
  await old.start();
  await untilReady(url);
}

async function untilSent(balancer: LoadBalancer, web: Member): Promise<void> {
  while (!balancer.sendsTo(web)) await pause(50);
}

/** Reads pages and the API until it is stopped. */
function startReading(url: string, { serverId, token }: Target) {
  const stopping = new AbortController();
  const failedReads: string[] = [];
  let reads = 0;
  const running = (async () => {
    for (; !stopping.signal.aborted; reads += 1) {
      const read = READS[reads % READS.length] ?? '/';
      const path = read.startsWith('/') ? read : `/api/v1/servers/${serverId}/${read}`;
      const failure = await readOnce(`${url}${path}`, token);
      if (failure) failedReads.push(`${path}: ${failure}`);
      await pause(READ_EVERY_MS, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  })();
  return {
    async stop() {
      stopping.abort();
      await running;
      return { reads, failedReads };
    },
  };
}

/** Returns what is wrong with the answer, if anything is. */
async function readOnce(url: string, token: string): Promise<string | undefined> {
  try {
    const headers = { authorization: `Bearer ${token}` };
    const response = await fetch(url, { headers, signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS) });
    const body = await response.text();
    return response.status === 200 ? undefined : `${response.status} ${body.slice(0, 200)}`;
  } catch (error) {
    return String(error);
  }
}
