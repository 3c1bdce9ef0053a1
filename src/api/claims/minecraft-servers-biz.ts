import type { FastifyRequest } from 'fastify';
import { askAsPlugin, type ClaimDeps, type PathCall } from './claim-call.ts';

/** With the spaces of the published answers. */
const answer = (voted: boolean, claimed: boolean, error = '') =>
  `{ "voted" : ${voted}, "claimed" : ${claimed}${error && `, "error" : "${error}"`} }`;

const NONE = answer(false, false);

/**
 * A claim has two published answers, and none for a vote that was claimed before. It gets that of no vote, so that no
 * plugin rewards it again.
 */
const ANSWERS = {
  'wrong-key': answer(false, false, 'server key not found'),
  off: answer(false, false, 'claims are off for this server'),
  'no-player': NONE,
  none: NONE,
  unclaimed: answer(true, false),
  rewarded: answer(true, true),
  'claimed-before': NONE,
  claimed: answer(true, true),
} as const;

/** The contract of minecraftservers.biz (https://minecraftservers.biz/api/), as JSON. */
export async function answerMinecraftServersBiz(
  deps: ClaimDeps,
  call: PathCall,
  request: FastifyRequest,
): Promise<string> {
  return ANSWERS[(await askAsPlugin(deps, call, request)).kind];
}
