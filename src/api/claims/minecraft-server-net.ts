import type { FastifyRequest } from 'fastify';
import { askAsPlugin, type ClaimDeps, type Parameters } from './claim-call.ts';

const DENIED = 'Access denied.';
const wrong = (parameter: 'action' | 'player') =>
  `${DENIED} Please check the api documentation for parameter "${parameter}".`;

/** `2` of a check says "claimed before"; of a claim, "claimed now". */
const ANSWERS = {
  'wrong-key': DENIED,
  'no-player': wrong('player'),
  off: `${DENIED} Please enable the api inside your user control panel.`,
  none: '0',
  unclaimed: '1',
  rewarded: '2',
  'claimed-before': '1',
  claimed: '2',
} as const;

/** Whether a call to `/api/` uses this contract: only it names a `player`. */
export function isOfMinecraftServerNet({ object, action, player }: Parameters): boolean {
  if (object !== undefined || action === 'status' || action === 'claim') return false;
  return player !== undefined || action === 'checkVote' || action === 'setClaimed';
}

/** The contract of minecraft-server.net (https://minecraft-server.net/api/docs). */
export async function answerMinecraftServerNet(
  deps: ClaimDeps,
  { action, key, player }: Parameters,
  request: FastifyRequest,
): Promise<string> {
  if (action !== 'checkVote' && action !== 'setClaimed') return wrong('action');
  const { kind } = await askAsPlugin(deps, { key, player, isClaim: action === 'setClaimed' }, request);
  return ANSWERS[kind];
}
