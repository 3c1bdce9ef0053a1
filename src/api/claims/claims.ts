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
import type { ClaimCalls } from '../../votes/claims/claim-calls.ts';
import { setSafeHeaders } from '../v1/safe-headers.ts';
import { askFor, type ClaimDeps, callerOf, type Parameters, parametersOf, pathCallOf } from './claim-call.ts';
import { answerServers } from './list-forge.ts';
import { answerMinecraftList } from './minecraft-list.ts';
import { answerMinecraftServerNet, isOfMinecraftServerNet } from './minecraft-server-net.ts';
import { answerMinecraftServersBiz } from './minecraft-servers-biz.ts';
import { answerTopServer } from './top-server.ts';

/** Sent with status 200; `MULTIPART` with 415. */
const WRONG_KEY = 'Error: server key not found';
const NO_PLAYER = 'Error: username or steamid is missing';
const CLAIMS_OFF = 'Error: claims are off for this server';
const MULTIPART =
  'a multipart form is not read: send the parameters in the address or as application/x-www-form-urlencoded';
const UNKNOWN_CALL = 'Error: unknown object, element or action';

const ANSWERS = {
  off: CLAIMS_OFF,
  none: '0',
  unclaimed: '1',
  rewarded: '2',
  claimed: '1',
  // Of a claim that reports it; the other one answers 0.
  'claimed-before': '2',
} as const;

/**
 * Contracts that vote plugins already use with other listings (docs/claims.md). At `/api/`, calls with a parameter
 * `object` use the contract of ListForge, those with `player` that of minecraft-server.net, and others the status/claim
 * contract. The only credential is a claim key, mostly in the URL. Answers have no line feed at the end, and caches must
 * not store them.
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
  app.removeContentTypeParser('application/json');
  app.addContentTypeParser('application/json', { parseAs: 'string', bodyLimit: BODY_LIMIT }, parseJson);
  // Plugins send any content type, mostly without a body.
  app.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: BODY_LIMIT }, (_request, _body, done) =>
    done(null, null),
  );
  app.addHook('onRequest', async (_request, reply) => {
    reply.header('cache-control', 'no-store').header('referrer-policy', 'no-referrer');
  });
  // All contracts answer thrown errors in plain text. The log line has no URL, because the URL may have the key.
  app.setErrorHandler(async (error, request, reply) => {
    const refusal = refusalOf(error as never, request);
    logRefusal(request, error as Error, refusal);
    return sendText(reply.code(refusal.status).headers(refusal.headers ?? {}), `Error: ${refusal.sentence}`);
  });

  const plain = async (request: FastifyRequest, reply: FastifyReply) => {
    const parameters = parametersOf(request);
    const answerOf = isOfMinecraftServerNet(parameters) ? answerMinecraftServerNet : plainAnswer;
    const text = await withinDatabaseTime(request, answerOf(claimDeps, parameters, request));
    return isHtml(parameters) ? sendHtml(reply, text) : sendText(reply, text);
  };
  const vrc = async (request: FastifyRequest, reply: FastifyReply) => {
    const answer = await withinDatabaseTime(request, voteReward(claimDeps, parametersOf(request), request));
    return sendJson(reply, JSON.stringify(answer));
  };
  const byPath =
    (answerOf: typeof answerMinecraftList, isClaim: boolean) =>
    async (request: FastifyRequest, reply: FastifyReply) => {
      const answer = answerOf(claimDeps, pathCallOf(request, isClaim), request);
      return sendJson(reply, await withinDatabaseTime(request, answer));
    };
  const topServer = (isClaim: boolean) => async (request: FastifyRequest, reply: FastifyReply) => {
    const answer = answerTopServer(claimDeps, parametersOf(request), isClaim, request);
    const { status, body } = await withinDatabaseTime(request, answer);
    return sendJson(reply.code(status), body);
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
  for (const [action, isClaim] of [
    ['check', false],
    ['claim', true],
  ] as const) {
    // minecraftservers.biz writes a slash at the end, minecraftlist.org does not.
    for (const end of ['', '/']) {
      const ofList = `/api/v1/${action}/:key/:username${end}`;
      app.route({ ...options, url: ofList, handler: byPath(answerMinecraftList, isClaim) });
      const ofBiz = `/api/votes/${action}/:key/:username${end}`;
      app.route({ ...options, url: ofBiz, handler: byPath(answerMinecraftServersBiz, isClaim) });
    }
    app.route({ ...options, url: `/api/v1/vote/${action}`, handler: topServer(isClaim) });
  }
}

/** Some plugins name the type and send no body. */
function parseJson(
  _request: FastifyRequest,
  text: string | Buffer,
  done: (error: Error | null, body?: unknown) => void,
): void {
  try {
    done(null, text === '' ? null : JSON.parse(String(text)));
  } catch {
    done(new RefusedError({ status: 400, code: 'malformed', sentence: 'The body is not valid JSON.' }));
  }
}

function sendText(reply: FastifyReply, text: string): FastifyReply {
  return reply.type('text/plain; charset=utf-8').serializer(String).send(text);
}

function sendJson(reply: FastifyReply, text: string): FastifyReply {
  return reply.type('application/json; charset=utf-8').serializer(String).send(text);
}

const isHtml = ({ object, format }: Parameters) => object === 'servers' && format === 'html';

/** It contains the names of players, and is opened at the listing's own address. */
function sendHtml(reply: FastifyReply, text: string): FastifyReply {
  reply.header('content-security-policy', "default-src 'none'; frame-ancestors 'none'; sandbox");
  return reply.type('text/html; charset=utf-8').serializer(String).send(text);
}

/** What a plain-text call asks for. A number is the answer if the vote was claimed before. Undefined if unknown. */
function actionOf({ object, element, action }: Parameters): 'check' | '0' | '2' | undefined {
  if (object === undefined) return action === 'claim' ? '2' : action === 'status' ? 'check' : undefined;
  if (object === 'votes' && element === 'claim') return action === 'post' ? '0' : 'check';
  if (object === 'plugin' && element === 'reward' && action === 'custom') return '2';
  return undefined;
}

/** Answers a call of the ListForge or the status/claim contract. */
async function plainAnswer(
  deps: ClaimDeps,
  parameters: Parameters,
  request: FastifyRequest,
): Promise<string> {
  const caller = await callerOf(deps, parameters, request);
  if (!caller) return WRONG_KEY;
  if (parameters.object === 'servers')
    return (await answerServers(deps, caller.serverId, parameters)) ?? UNKNOWN_CALL;
  const action = actionOf(parameters);
  if (!action) return UNKNOWN_CALL;
  const player = parameters.username || parameters.steamid;
  if (!player) return NO_PLAYER;
  const { kind } = await askFor(deps, caller, player, action !== 'check');
  return kind === 'claimed-before' && action !== 'check' ? action : ANSWERS[kind];
}

/** For the action `claim`, `claimed` says whether this call claimed the vote; otherwise, whether it is rewarded. */
async function voteReward(deps: ClaimDeps, parameters: Parameters, request: FastifyRequest) {
  const none = { voted: false, claimed: false };
  const { action, username, steamid } = parameters;
  const caller = await callerOf(deps, parameters, request);
  if (!caller) return { ...none, error: 'server key not found' };
  const player = username || steamid;
  if (!player) return { ...none, error: 'username is missing' };
  const { kind } = await askFor(deps, caller, player, action === 'claim');
  if (kind === 'off') return { ...none, error: 'claims are off for this server' };
  return { voted: kind !== 'none', claimed: kind === 'claimed' || kind === 'rewarded' };
}
