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
import { limitClaimKey } from '../v1/claim.ts';
import { setSafeHeaders } from '../v1/safe-headers.ts';
import { answerServers } from './list-forge.ts';

/** Sent with status 200; `MULTIPART` with 415. */
const WRONG_KEY = 'Error: server key not found';
const NO_PLAYER = 'Error: username or steamid is missing';
const CLAIMS_OFF = 'Error: claims are off for this server';
const MULTIPART =
  'a multipart form is not read: send the parameters in the address or as application/x-www-form-urlencoded';
const UNKNOWN_CALL = 'Error: unknown object, element or action';

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
  // Plugins send any content type, mostly without a body.
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
    const answer = plainAnswer(claimDeps, parametersOf(request), request);
    return sendText(reply, await withinDatabaseTime(request, answer));
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
  // Some plugins leave out the slash before the query.
  for (const url of ['/api', '/api/']) app.route({ ...options, url, handler: plain });
  app.route({ ...options, url: '/api/vrc', handler: vrc });
}

function sendText(reply: FastifyReply, text: string): FastifyReply {
  return reply.type('text/plain; charset=utf-8').serializer(String).send(text);
}

/** From the query and the body; the query wins. If one is given several times, its first value counts. */
type Parameters = Record<string, string | undefined>;

function parametersOf(request: FastifyRequest): Parameters {
  const all = { ...(request.body as object | null), ...(request.query as object) };
  const first = Object.entries(all).map(([name, value]) => [name, Array.isArray(value) ? value[0] : value]);
  return Object.fromEntries(
    first.map(([name, value]) => [name, typeof value === 'string' ? value.trim() : '']),
  );
}

type Deps = AppDeps & { claimCalls: ClaimCalls };

/** Null if the key is wrong, or if the call names another server. Throws 429 if the key was used too often. */
async function callerOf(deps: Deps, { key = '', server, object }: Parameters, request: FastifyRequest) {
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

/**
 * Undefined if the call names no player. A SteamID counts as a name. `name` is null if no vote can have it: the answer
 * is the same as for a player without a vote.
 */
function playerOf({ username, steamid }: Parameters): { name: string | null } | undefined {
  const given = username || steamid;
  return given ? { name: usernameSchema.safeParse(given).data ?? null } : undefined;
}

/** What a plain-text call asks for. A number is the answer if the vote was claimed before. Undefined if unknown. */
function actionOf({ object, element, action }: Parameters): 'check' | '0' | '2' | undefined {
  if (object === undefined) return action === 'claim' ? '2' : action === 'status' ? 'check' : undefined;
  if (object === 'votes' && element === 'claim') return action === 'post' ? '0' : 'check';
  if (object === 'plugin' && element === 'reward' && action === 'custom') return '2';
  return undefined;
}

/** Answers a call of the ListForge or the status/claim contract. */
async function plainAnswer(deps: Deps, parameters: Parameters, request: FastifyRequest): Promise<string> {
  const caller = await callerOf(deps, parameters, request);
  if (!caller) return WRONG_KEY;
  const { serverId, token } = caller;
  if (parameters.object === 'servers')
    return (await answerServers(deps, serverId, parameters)) ?? UNKNOWN_CALL;
  const action = actionOf(parameters);
  if (!action) return UNKNOWN_CALL;
  const player = playerOf(parameters);
  if (!player) return NO_PLAYER;
  if (player.name === null) return CODES.none;
  const named = { serverId, username: player.name };
  if (action === 'check') {
    const { kind } = await checkClaim(deps, named);
    return kind === 'off' ? CLAIMS_OFF : CODES[kind];
  }
  const { kind } = await claimVote(deps, named, { tokenId: token._id });
  if (kind === 'off') return CLAIMS_OFF;
  if (kind === 'claimed') return '1';
  return kind === 'claimed-before' ? action : '0';
}

/** For the action `claim`, `claimed` says whether this call claimed the vote; otherwise, whether it is rewarded. */
async function voteReward(deps: Deps, parameters: Parameters, request: FastifyRequest) {
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
