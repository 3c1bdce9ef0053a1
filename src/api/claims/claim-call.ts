import type { FastifyRequest } from 'fastify';
import type { AppDeps } from '../../process/app-deps.ts';
import type { AuthenticatedToken } from '../../servers/api-token.ts';
import { authenticateClaimKey, noteTokenUse } from '../../servers/authenticate-token.ts';
import { type ClaimCalls, LIST_COST } from '../../votes/claims/claim-calls.ts';
import { checkClaim, claimVote } from '../../votes/claims/claim-vote.ts';
import { usernameSchema } from '../../votes/username.ts';
import type { Vote } from '../../votes/vote.ts';
import { limitClaimKey } from '../v1/claim.ts';

export type ClaimDeps = AppDeps & { claimCalls: ClaimCalls };

/** From the query and the body; the query wins. If one is given several times, its first value counts. */
export type Parameters = Record<string, string | undefined>;

export function parametersOf(request: FastifyRequest): Parameters {
  const all = { ...(request.body as object | null), ...(request.query as object) };
  const first = Object.entries(all).map(([name, value]) => [name, Array.isArray(value) ? value[0] : value]);
  return Object.fromEntries(
    first.map(([name, value]) => [name, typeof value === 'string' ? value.trim() : '']),
  );
}

/** Null if the key is wrong, or if the call names another server. Throws 429 if the key was used too often. */
export async function callerOf(
  deps: ClaimDeps,
  { key = '', server, object }: Parameters,
  request: FastifyRequest,
): Promise<AuthenticatedToken | null> {
  const caller = await authenticateClaimKey(deps, key);
  if (!caller) return null;
  limitClaimKey(deps, caller, object === 'servers' ? LIST_COST : 1);
  if (!(await isServer(deps, caller, server))) return null;
  noteTokenUse(deps, caller.token)?.catch((error: unknown) => {
    request.log.warn({ event: 'token.use_not_noted', reason: String(error) });
  });
  return caller;
}

/** The call may name the server by its id, its current slug or an earlier slug, or not at all. */
async function isServer({ servers }: AppDeps, { serverId }: AuthenticatedToken, named: string | undefined) {
  if (!named || named === serverId.toHexString()) return true;
  const found = await servers.findOne(
    { _id: serverId, slugs: named.toLowerCase() },
    { projection: { _id: 1 } },
  );
  return found !== null;
}

/** What becomes of a call; each contract has its own words for it. */
export type Asked =
  | { kind: 'off' | 'none' }
  /** Of a check. `rewarded`: nothing is left to claim. */
  | { kind: 'unclaimed' | 'rewarded'; vote: Vote }
  /** Of a claim. `claimed`: the player must be rewarded now. */
  | { kind: 'claimed' | 'claimed-before' };

/** `player`: as the plugin named them. Of a name that no vote can have, the answer is that there is no vote. */
export async function askFor(
  deps: ClaimDeps,
  { serverId, token }: AuthenticatedToken,
  player: string,
  isClaim: boolean,
): Promise<Asked> {
  const username = usernameSchema.safeParse(player).data;
  if (username === undefined) return { kind: 'none' };
  const named = { serverId, username };
  const { kind, vote } = isClaim
    ? await claimVote(deps, named, { tokenId: token._id })
    : await checkClaim(deps, named);
  if (kind === 'unclaimed' || kind === 'rewarded') return { kind, vote };
  // Only of a claim with an `Idempotency-Key`, which these contracts lack.
  if (kind === 'key-reused') return { kind: 'claimed-before' };
  return { kind };
}

/** A call whose address has the key and the player as segments. */
export type PathCall = { key: string; player: string; isClaim: boolean };

/**
 * Of `…/KEY/NAME` or `…/KEY/NAME/`. A plus is a space, as PHP encodes it; an encoded plus is one. The router has refused
 * malformed percent-encoding.
 */
export function pathCallOf(request: FastifyRequest, isClaim: boolean): PathCall {
  const [path = ''] = request.url.split('?');
  const name = path.replace(/\/$/, '').split('/').at(-1) ?? '';
  const { key, username } = request.params as { key: string; username: string };
  // Without a name, the last part is the key.
  if (username === '') return { key, player: '', isClaim };
  return { key, player: decodeURIComponent(name.replaceAll('+', ' ')).trim(), isClaim };
}

/** Checks the key first, then whether a player is named. */
export async function askAsPlugin(
  deps: ClaimDeps,
  call: { key: string | undefined; player: string | undefined; isClaim: boolean },
  request: FastifyRequest,
): Promise<Asked | { kind: 'wrong-key' | 'no-player' }> {
  const caller = await callerOf(deps, { key: call.key }, request);
  if (!caller) return { kind: 'wrong-key' };
  if (!call.player) return { kind: 'no-player' };
  return askFor(deps, caller, call.player, call.isClaim);
}
