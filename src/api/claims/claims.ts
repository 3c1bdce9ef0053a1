import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify';
import { requireRightClock } from '../../http/clock-gate.ts';
import { takeLooseContentTypes } from '../../http/content-type.ts';
import { requireIndexes } from '../../http/database-gates.ts';
import { withinDatabaseTime } from '../../http/database-time.ts';
import { logRefusal, RefusedError, refusalOf } from '../../http/http-errors.ts';
import { acceptForms } from '../../http/query-string.ts';
import { BODY_LIMIT } from '../../http/request-limits.ts';
import { putVotesFirst } from '../../http/requests.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import type { AuthenticatedToken } from '../../servers/api-token.ts';
import { authenticateClaimKey, noteTokenUse } from '../../servers/authenticate-token.ts';
import { type ClaimCalls, LIST_COST } from '../../votes/claims/claim-calls.ts';
import { checkClaim, claimVote } from '../../votes/claims/claim-vote.ts';
import { usernameSchema } from '../../votes/username.ts';
import { setSafeHeaders } from '../v1/safe-headers.ts';
import { answerServers } from './list-forge.ts';
import { type Parameters, parametersOf } from './parameters.ts';
import { limitClaimKey } from './too-many-calls.ts';

/** Error texts of the ListForge and the status/claim contract, sent with status 200. `MULTIPART` is sent with 415. */
const WRONG_KEY = 'Error: server key not found';
const NO_PLAYER = 'Error: username or steamid is missing';
const CLAIMS_OFF = 'Error: claims are off for this server';
const MULTIPART =
  'a multipart form is not read: send the parameters in the address or as application/x-www-form-urlencoded';
const UNKNOWN_CALL = 'Error: unknown object, element or action';

/** The answers about a player's vote in the ListForge and the status/claim contract. */
const CODES = { none: '0', unclaimed: '1', rewarded: '2' } as const;

/**
 * Three contracts that vote plugins already use with other listings (docs/claims.md). At `/api/`, calls with a
 * parameter `object` use the contract of ListForge, and others the status/claim contract. `/api/vrc` has VoteReward's.
 * The only credential is a claim key, mostly in the URL. Answers have no line feed at the end, and caches must not
 * store them.
 */
export async function claimContracts(
  app: FastifyInstance,
  {
    deps,
    restoreGate,
    claimCalls,
  }: { deps: AppDeps; restoreGate: onRequestHookHandler; claimCalls: ClaimCalls },
): Promise<void> {
  const claimDeps = { ...deps, claimCalls };
  setSafeHeaders(app);
  takeLooseContentTypes(app);
  app.addHook('onRequest', restoreGate);
  requireIndexes(app, deps);
  acceptForms(app, BODY_LIMIT);
  putVotesFirst(app);
  app.addContentTypeParser('multipart/form-data', (_request, _body, done) =>
    done(new RefusedError({ status: 415, code: 'unsupported-media-type', sentence: MULTIPART })),
  );
  // Plugins send any content type, mostly without a body. Form bodies are parsed above, and JSON by Fastify. Any other
  // body is ignored.
  app.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: BODY_LIMIT }, (_request, _body, done) =>
    done(null, null),
  );
  app.addHook('onRequest', async (_request, reply) => {
    reply.header('cache-control', 'no-store').header('referrer-policy', 'no-referrer');
  });
  // All three contracts answer thrown errors in plain text. The log line has no URL, because the URL may have the key.
  app.setErrorHandler(async (error, request, reply) => {
    const refusal = refusalOf(error as never, request);
    logRefusal(request, error as Error, refusal);
    return sendText(reply.code(refusal.status).headers(refusal.headers ?? {}), `Error: ${refusal.sentence}`);
  });

  const plain = async (request: FastifyRequest, reply: FastifyReply) => {
    const parameters = parametersOf(request);
    const answer = parameters.object === undefined ? statusClaim : listForge;
    return sendText(reply, await withinDatabaseTime(request, answer(claimDeps, parameters, request)));
  };
  const vrc = async (request: FastifyRequest, reply: FastifyReply) => {
    const answer = await withinDatabaseTime(request, voteReward(claimDeps, parametersOf(request), request));
    return reply.type('application/json; charset=utf-8').serializer(JSON.stringify).send(answer);
  };
  const options = {
    method: ['GET', 'POST'],
    // No HEAD routes: a call may claim a vote, and HEAD must change nothing (RFC 9110, section 9.2.1).
    exposeHeadRoute: false,
    schema: { hide: true },
    preHandler: requireRightClock(deps),
  };
  // Both paths are registered, because some plugins leave out the slash before the query.
  for (const url of ['/api', '/api/']) app.route({ ...options, url, handler: plain });
  app.route({ ...options, url: '/api/vrc', handler: vrc });
}

function sendText(reply: FastifyReply, text: string): FastifyReply {
  return reply.type('text/plain; charset=utf-8').serializer(String).send(text);
}

type Deps = AppDeps & { claimCalls: ClaimCalls };

/**
 * The server and token of a call's claim key; null if the key is wrong, or if the call names another server.
 *
 * @throws {RefusedError} 429 if the key was used too often
 */
async function callerOf(
  deps: Deps,
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

/**
 * Whether a call is for the server of its key. The call may name the server by its id, its current slug or an earlier
 * slug. If it names no server, it is for the server of the key.
 */
async function isServer(
  { servers }: AppDeps,
  { serverId }: AuthenticatedToken,
  named: string | undefined,
): Promise<boolean> {
  if (!named || named === serverId.toHexString()) return true;
  const slugs = named.toLowerCase();
  const found = await servers.findOne({ _id: serverId, slugs }, { projection: { _id: 1 } });
  return found !== null;
}

/**
 * The player whom a call names; undefined if it names none. A SteamID counts as a name. `name` is null if the text is
 * not a valid name: no vote can have it, so the answer is the same as for a player without a vote.
 */
function playerOf({ username, steamid }: Parameters): { name: string | null } | undefined {
  const given = username || steamid;
  return given ? { name: usernameSchema.safeParse(given).data ?? null } : undefined;
}

type Call = { caller: AuthenticatedToken; name: string };

async function check(deps: AppDeps, { caller, name }: Call): Promise<string> {
  const { kind } = await checkClaim(deps, { serverId: caller.serverId, username: name });
  return kind === 'off' ? CLAIMS_OFF : CODES[kind];
}

/**
 * Claims a player's vote. Returns `1` if that succeeds, `before` if the vote was claimed before, `0` if there is no
 * vote, and `CLAIMS_OFF` if only the listener rewards votes.
 */
async function claim(deps: AppDeps, { caller, name }: Call, before: '0' | '2'): Promise<string> {
  const player = { serverId: caller.serverId, username: name };
  const { kind } = await claimVote(deps, player, { tokenId: caller.token._id });
  if (kind === 'off') return CLAIMS_OFF;
  if (kind === 'claimed') return '1';
  return kind === 'claimed-before' ? before : '0';
}

async function listForge(deps: Deps, parameters: Parameters, request: FastifyRequest): Promise<string> {
  const { object, element, action } = parameters;
  const caller = await callerOf(deps, parameters, request);
  if (!caller) return WRONG_KEY;
  if (object === 'servers') return (await answerServers(deps, caller.serverId, parameters)) ?? UNKNOWN_CALL;
  const isVotes = object === 'votes' && element === 'claim';
  const isReward = object === 'plugin' && element === 'reward' && action === 'custom';
  if (!isVotes && !isReward) return UNKNOWN_CALL;
  const player = playerOf(parameters);
  if (!player) return NO_PLAYER;
  if (player.name === null) return CODES.none;
  const call = { caller, name: player.name };
  if (isReward) return claim(deps, call, '2');
  return action === 'post' ? claim(deps, call, '0') : check(deps, call);
}

async function statusClaim(deps: Deps, parameters: Parameters, request: FastifyRequest): Promise<string> {
  const { action } = parameters;
  const caller = await callerOf(deps, parameters, request);
  if (!caller) return WRONG_KEY;
  if (action !== 'status' && action !== 'claim') return UNKNOWN_CALL;
  const player = playerOf(parameters);
  if (!player) return NO_PLAYER;
  if (player.name === null) return CODES.none;
  const call = { caller, name: player.name };
  return action === 'claim' ? claim(deps, call, '2') : check(deps, call);
}

type VrcAnswer = { voted: boolean; claimed: boolean; error?: string };

/**
 * Answers a call of VoteReward's contract. For the action `claim`, `claimed` says whether this call claimed the vote;
 * otherwise, whether the vote is rewarded already.
 */
async function voteReward(deps: Deps, parameters: Parameters, request: FastifyRequest): Promise<VrcAnswer> {
  const none = { voted: false, claimed: false };
  const caller = await callerOf(deps, parameters, request);
  if (!caller) return { ...none, error: 'server key not found' };
  const player = playerOf(parameters);
  if (!player) return { ...none, error: 'username is missing' };
  if (player.name === null) return none;
  const named = { serverId: caller.serverId, username: player.name };
  const { kind } =
    parameters.action === 'claim'
      ? await claimVote(deps, named, { tokenId: caller.token._id })
      : await checkClaim(deps, named);
  if (kind === 'off') return { ...none, error: 'claims are off for this server' };
  return { voted: kind !== 'none', claimed: kind === 'claimed' || kind === 'rewarded' };
}
