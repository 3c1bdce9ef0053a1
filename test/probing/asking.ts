import ipaddr from 'ipaddr.js';
import { onTestFinished } from 'vitest';
import type { Ask, Probe, ProbeFailure, ServerAnswer, Target } from '../../src/probing/ask.ts';
import { createAsk } from '../../src/probing/ask-server.ts';
import type { Lookups } from '../../src/probing/resolve-server.ts';
import type { GameServer } from '../support/fake-game-servers.ts';

const LOOPBACK = {
  ALLOWED_PRIVATE_RANGES: [ipaddr.parseCIDR('127.0.0.0/8'), ipaddr.parseCIDR('::1/128')],
  REFUSED_RANGES: [],
};

/** A query function that may connect to this machine. */
export function askHere(lookups?: Lookups): Ask {
  return createAsk(LOOPBACK, lookups);
}

export function at(port: number, game: string, host = '127.0.0.1'): Target {
  return { game, host, port, queryPort: null };
}

/** Starts a responder for the length of a test. */
export async function started<S extends Pick<GameServer, 'start' | 'stop'>>(server: S): Promise<S> {
  await server.start();
  onTestFinished(() => server.stop());
  return server;
}

/** The answer of a check that must succeed. */
export function answerOf(probe: Probe): ServerAnswer {
  if (!probe.ok) throw new Error(`Failed with ${probe.failure}: ${probe.message}`);
  return probe.answer;
}

/** The failure of a check that must fail. */
export function failureOf(probe: Probe): ProbeFailure {
  if (probe.ok) throw new Error(`Was answered: ${JSON.stringify(probe.answer)}`);
  return probe.failure;
}
