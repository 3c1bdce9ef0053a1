import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { GameError, gameOf } from '../games/games.ts';
import { type AddressRanges, resolveAddress } from '../platform/address-guard.ts';
import { type Clock, MINUTE, SECOND } from '../platform/clock.ts';
import { type Config, ConfigError } from '../platform/config.ts';
import type { CanaryAddress } from '../platform/config-values.ts';
import type { Ask } from './ask.ts';

/** Tells our own network's failure from a server's (design rule 7). One a process, in memory. */
export type Canary = {
  /** Takes note of a check's end, before anybody asks about its failure. */
  note(serverId: string, check: { lastSeenOnline: boolean; answered: boolean }): void;
  /**
   * Whether our own network works, by what was found out after this call began. A failure counts only if so. Never
   * throws.
   */
  works(): Promise<boolean>;
};

type CanaryDeps = {
  config: Pick<Config, 'CANARY_ADDRESSES'> & AddressRanges;
  ask: Ask;
  clock: Clock;
};

/**
 * Makes the canary: `CANARY_ADDRESSES` where there are any, else the listing itself.
 *
 * @throws {ConfigError} when a canary's game is in no list
 */
export function createCanary({ config, ask, clock }: CanaryDeps): Canary {
  const addresses = config.CANARY_ADDRESSES;
  if (addresses.length === 0) return canaryOfListing(clock);
  for (const { game } of addresses) if (game !== null) requireGame(game);
  return { note: () => undefined, works: afterwards(() => anyAnswers(config, addresses, ask)) };
}

function requireGame(game: string): void {
  try {
    gameOf(game);
  } catch (error) {
    throw error instanceof GameError ? new ConfigError([`CANARY_ADDRESSES: ${error.message}`]) : error;
  }
}

/** More than half of the servers last seen online fail within a minute: then it is not they. */
const WINDOW_MS = MINUTE;

/** With fewer failing servers in a minute, they may well be down themselves. */
const LEAST_FAILING = 5;

/**
 * Where a minute has few checks, so many servers that fail in a row, with no answer of any other between them, mean
 * the same. A listing of fewer must be able to say that they are offline.
 */
const FEW_CHECKS = 2 * LEAST_FAILING;
const LEAST_IN_A_ROW = 3;

/** Every server that is not long offline is checked once in this time: a round at its longest, and a retry. */
const ROUND_MS = 6 * MINUTE;

function canaryOfListing(clock: Clock): Canary {
  /** By server, the oldest check first. */
  const recent = new Map<string, { at: number; answered: boolean }>();
  let failing = 0;
  /** When each server failed that did so since the newest answer, the oldest failure first. */
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

/** Canaries are asked no more often than this, however many failures wait for them. */
const LEAST_GAP_MS = SECOND;

/**
 * Makes `ask` shared: every caller gets the answer of a run that began after its call, and all who call meanwhile
 * share the next one.
 */
function afterwards(ask: () => Promise<boolean>): () => Promise<boolean> {
  let running: Promise<unknown> = Promise.resolve();
  let next: Promise<boolean> | undefined;
  let lastBegan = Number.NEGATIVE_INFINITY;
  return () => {
    next ??= (async () => {
      await running;
      const wait = lastBegan + LEAST_GAP_MS - performance.now();
      if (wait > 0) await pause(wait);
      lastBegan = performance.now();
      // From here on it is too late to share this run.
      next = undefined;
      const answer = ask();
      running = answer;
      return answer;
    })();
    return next;
  };
}

const CONNECT_MS = 3 * SECOND;

async function anyAnswers(
  config: CanaryDeps['config'],
  addresses: CanaryAddress[],
  ask: Ask,
): Promise<boolean> {
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

/** Opens a TCP connection and closes it. Throws when nobody accepts it in time. */
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
