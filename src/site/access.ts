import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ObjectId, type WithId } from 'mongodb';
import { ADDRESS_HEADER, type Auth } from '../accounts/auth.ts';
import { isFreshSession, lacksSecondFactor, mayActAsOperator } from '../accounts/operator-session.ts';
import { type SignedIn, whoIs } from '../accounts/sessions.ts';
import type { Platform } from '../process/platform.ts';
import type { Server } from '../servers/server.ts';
import { PageError } from './error-pages.ts';
import type { Access } from './route-access.ts';
import { wantsPage } from './wants-page.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    access?: Access;
  }
  interface FastifyInstance {
    /** Whom the routes of a scope are for that do not say it themselves, because others wrote them. */
    accessOfAll: Access | undefined;
  }
  interface FastifyRequest {
    /** Who sent the request; null for a stranger. */
    signedIn: SignedIn | null;
    /** The server that an `owner` route is about. */
    ownServer: WithId<Server> | null;
  }
}

const STRANGER = { signedIn: null, cookies: [] };

type AdminRule = Pick<Platform, 'config' | 'clock'>;
type AccessSources = Pick<Platform, 'config' | 'clock' | 'servers'>;

/**
 * Puts a lock before every route registered later in `app`: a route says in its `config.access` whom it is for,
 * and one that says nothing stops the start.
 */
export function guardRoutes(app: FastifyInstance, sources: AccessSources, auth: Auth): void {
  app.decorateRequest('signedIn', null);
  app.decorateRequest('ownServer', null);
  app.decorate('accessOfAll', undefined);
  app.addHook('onRoute', function (route) {
    const { url, method, config } = route;
    const access = config?.access ?? this.accessOfAll;
    if (access === undefined) throw new Error(`${method} ${url} does not say whom it is for`);
    route.config = { ...config, access };
    for (const one of [method].flat()) app.site.routes.push({ method: one, url, access });
  });
  app.addHook('onRequest', async (request, reply) => {
    const { access } = request.routeOptions.config;
    if (access === undefined) return;
    // Most readers of public pages send no cookie, and asking the library costs more than their page.
    const { signedIn, cookies } = request.headers.cookie
      ? await whoIs(auth, signInHeaders(request))
      : STRANGER;
    for (const cookie of cookies) reply.header('set-cookie', cookie);
    request.signedIn = signedIn;
    if (access === 'anyone') return;
    if (!signedIn) return askToSignIn(request, reply);
    if (access === 'operator') return refuseUnlessOperator(sources, request, reply, signedIn);
    if (access === 'owner') request.ownServer = await ownServerOf(sources, request, signedIn);
  });
}

/** A request's headers as the sign-in library reads them. */
export function signInHeaders(request: FastifyRequest): Headers {
  const headers = new Headers({ [ADDRESS_HEADER]: request.ip });
  for (const name of ['cookie', 'user-agent'] as const) {
    const value = request.headers[name];
    if (value) headers.set(name, value);
  }
  return headers;
}

/** Who is signed in, on a route that strangers do not reach. */
export function userOf(request: FastifyRequest): SignedIn['user'] {
  if (!request.signedIn) throw new Error('a stranger on a route that is not for anyone');
  return request.signedIn.user;
}

/** The server that an `owner` route is about. */
export function serverOf(request: FastifyRequest): WithId<Server> {
  if (!request.ownServer) throw new Error('no server on a route that is not for owners');
  return request.ownServer;
}

/** Whether whoever sent a request has an operator's rights (`mayActAsOperator`). */
export function isByOperator(sources: AdminRule, { signedIn }: FastifyRequest): boolean {
  return signedIn !== null && mayActAsOperator(sources, signedIn);
}

function askToSignIn(request: FastifyRequest, reply: FastifyReply) {
  const { base } = request.server.site;
  if (!wantsPage(request)) throw new PageError(401, `Sign in at ${base}/sign-in first.`);
  const next = isPage(request) ? [`next=${encodeURIComponent(request.url)}`] : [];
  const lost = request.method === 'GET' ? [] : ['done=not-sent'];
  return reply.redirect(`${base}/sign-in?${[...lost, ...next].join('&')}`, 303);
}

/** Whether the address of a request can be opened: that of a form that was sent often can. */
function isPage({ method, server, routeOptions: { url } }: FastifyRequest): boolean {
  return method === 'GET' || (url !== undefined && server.hasRoute({ method: 'GET', url }));
}

function refuseUnlessOperator(
  rule: AdminRule,
  request: FastifyRequest,
  reply: FastifyReply,
  signedIn: SignedIn,
) {
  // Nothing tells an owner what the admin area has.
  if (signedIn.user.role !== 'operator') throw new PageError(404, 'There is no such page.');
  if (!isFreshSession(rule, signedIn)) return askToSignIn(request, reply);
  if (lacksSecondFactor(rule, signedIn.user)) {
    const { base } = request.server.site;
    if (!wantsPage(request)) throw new PageError(403, `Set up a second factor at ${base}/account first.`);
    return reply.redirect(`${base}/account/two-factor`, 303);
  }
  return undefined;
}

async function ownServerOf(
  sources: AccessSources,
  request: FastifyRequest,
  signedIn: SignedIn,
): Promise<WithId<Server>> {
  const { serverId = '' } = request.params as { serverId?: string };
  const missing = new PageError(404, 'You have no such server.');
  if (!/^[0-9a-f]{24}$/.test(serverId)) throw missing;
  const server = await sources.servers.findOne({ _id: new ObjectId(serverId), removedAt: null });
  if (!server) throw missing;
  const isOwn = server.ownerId?.equals(signedIn.user._id) ?? false;
  if (!isOwn && !mayActAsOperator(sources, signedIn)) throw missing;
  return server;
}
