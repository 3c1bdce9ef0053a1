import type { FastifyRequest } from 'fastify';
import { askAsPlugin, type ClaimDeps, type PathCall } from './claim-call.ts';

/** The contract of minecraftlist.org (https://minecraftlist.org/apidocs), as JSON. */
export async function answerMinecraftList(
  deps: ClaimDeps,
  call: PathCall,
  request: FastifyRequest,
): Promise<string> {
  const { kind } = await askAsPlugin(deps, call, request);
  switch (kind) {
    case 'wrong-key':
      return JSON.stringify({ error: 'Incorrect API key' });
    case 'off':
      return JSON.stringify({ error: 'Claims are off for this server' });
    default:
      return JSON.stringify({
        username: call.player,
        voted: kind === 'unclaimed' || kind === 'rewarded' || kind === 'claimed' || kind === 'claimed-before',
        // Of a claim: whether this call claimed the vote.
        claimed: kind === 'rewarded' || kind === 'claimed',
        type: call.isClaim ? 'claim' : 'check',
      });
  }
}
