import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { GameError, gameOf } from '../games/games.ts';
import type { AddressRanges } from '../platform/address-guard.ts';
import { type Clock, MINUTE, SECOND } from '../platform/clock.ts';
import type { Config } from '../platform/config.ts';
import type { CanaryAddress } from '../platform/config-values.ts';
import { ConfigError } from '../platform/environment.ts';
import { resolveAddress } from '../platform/resolve-address.ts';
import type { Ask } from './ask.ts';

/** Tells failures of Tallyport's own network from those of servers (design rule 7). One in each process. */
export type Canary = {
  /** Must be called before `works`. */
  note(serverId: string, check: { lastSeenOnline: boolean; answered: boolean }): void;
  /** Only then does a failed check count. Canary addresses are asked after this call began. Never throws. */
  works(): Promise<boolean>;
};

type CanaryDeps = {
  config: Pick<Config, 'CANARY_ADDRESSES'> & AddressRanges;
  ask: Ask;
  clock: Clock;
};

/** Without `CANARY_ADDRESSES`, the listed servers are the canary. */
export function createCanary({ config, ask, clock }: CanaryDeps): Canary {
  const addresses = config.CANARY_ADDRESSES;
  if (addresses.length === 0) return canaryOfListing(clock);
  requireCanaryGames(config);
  return { note: () => undefined, works: sharedRuns(() => anyAnswers(config, addresses, ask)) };
}

/** @throws {ConfigError} when a game is not in gamedig's list: workers do not start then */
export function requireCanaryGames({ CANARY_ADDRESSES }: Pick<Config, 'CANARY_ADDRESSES'>): void {
  for (const { game } of CANARY_ADDRESSES) if (game !== null) requireGame(game);
}

function requireGame(game: string): void {
  try {
    gameOf(game);
  } catch (error) {
    throw error instanceof GameError ? new ConfigError([`CANARY_ADDRESSES: ${error.message}`]) : error;
  }
}

/** If more than half of the servers that were online fail within this time, Tallyport's own network may be down. */
const WINDOW_MS = MINUTE;

/** If fewer fail, the servers themselves are probably down. */
const LEAST_FAILING = 5;

/**
 * With fewer checks in a minute, so many failures in a row decide. A smaller listing can still show servers offline.
 */
const FEW_CHECKS = 2 * LEAST_FAILING;
const LEAST_IN_A_ROW = 3;

/** Of a failure in a row: the probe interval with jitter, and a quick retry. Then every server is probed again. */
const ROUND_MS = 6 * MINUTE;

function canaryOfListing(clock: Clock): Canary {
  /** The newest check of each server in the last minute, oldest first. */
  const recent = new Map<string, { at: number; answered: boolean }>();
  let failing = 0;
  /** When servers failed since any last answered, oldest first. */
  const inARow = new Map<string, number>();

  function forget(serverId: string): void {
    const check = recent.get(serverId);
    if (check && !check.answered) failing -= 1;
    recent.delete(serverId);
    inARow.delete(serverId);
  }

  function forgetOld(now: number): void {
    for (const [serverId, { at, answered }] of recent) {
      if (now - at <= WINDOW_MS) break;
      if (!answered) failing -= 1;
      recent.delete(serverId);
    }
    for (const [serverId, at] of inARow) {
      if (now - at <= ROUND_MS) break;
      inARow.delete(serverId);
    }
  }

  return {
    note(serverId, { lastSeenOnline, answered }) {
      forget(serverId);
      if (answered) inARow.clear();
      if (!lastSeenOnline && !answered) return;
      const at = clock.now().getTime();
      recent.set(serverId, { at, answered });
      if (answered) return;
      failing += 1;
      inARow.set(serverId, at);
    },
    async works() {
      forgetOld(clock.now().getTime());
      const mostFail = failing >= LEAST_FAILING && 2 * failing > recent.size;
      const allFail = recent.size < FEW_CHECKS && inARow.size >= LEAST_IN_A_ROW;
      return !mostFail && !allFail;
    },
  };
}

/** Between two checks of all canary addresses. */
const LEAST_GAP_MS = SECOND;

/** Each caller gets the answer of a run that began after its call; calls during a run share the next one. */
function sharedRuns(load: () => Promise<boolean>): () => Promise<boolean> {
  let running: Promise<unknown> = Promise.resolve();
  let next: Promise<boolean> | undefined;
  let lastBegan = Number.NEGATIVE_INFINITY;
  return () => {
    next ??= (async () => {
      await running;
      const wait = lastBegan + LEAST_GAP_MS - performance.now();
      if (wait > 0) await pause(wait);
      lastBegan = performance.now();
      // A later call must get the answer of a later run.
      next = undefined;
      const answer = load();
      running = answer;
      return answer;
    })();
    return next;
  };
}

const CONNECT_MS = 3 * SECOND;

async function anyAnswers(config: CanaryDeps['config'], addresses: CanaryAddress[], ask: Ask) {
  const answers = addresses.map(async ({ game, host, port }) => {
    if (game !== null) {
      const { ok } = await ask({ game, host, port, queryPort: null });
      if (!ok) throw new Error('no answer');
      return;
    }
    await accepts(config, host, port);
  });
  return Promise.any(answers).then(
    () => true,
    () => false,
  );
}

/** Throws if the connection is not accepted in time. */
async function accepts(config: CanaryDeps['config'], host: string, port: number): Promise<void> {
  const options = { ranges: config, timeoutMs: CONNECT_MS };
  const [address] = await resolveAddress(host, options);
  if (address === undefined) throw new Error('no address');
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const socket = connect({ host: address, port });
  socket
    .setTimeout(CONNECT_MS, () => reject(new Error('no answer')))
    .on('connect', () => resolve())
    .on('error', reject);
  try {
    await promise;
  } finally {
    socket.destroy();
  }
}
