import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ObjectId, type WithId } from 'mongodb';
import { ADDRESS_HEADER, type Auth } from '../accounts/auth.ts';
import {
  isFreshSession,
  lacksSecondFactor,
  mayActAsOperator,
  type SignedIn,
  whoIs,
} from '../accounts/sessions.ts';
import { SENTENCES } from '../http/http-errors.ts';
import { defineMessage } from '../language/t.ts';
import type { AppDeps } from '../process/app-deps.ts';
import { roleOf } from '../servers/ownership.ts';
import type { Server } from '../servers/server.ts';
import { PageError } from './error-pages.ts';
import { preferLanguageOf } from './page-language.ts';
import type { Access } from './route-access.ts';
import { type Area, accessIn } from './shared/area.ts';
import { wantsPage } from './wants-page.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    access?: Access;
  }
  interface FastifyInstance {
    /** For a third-party plugin, whose routes do not set `config.access`. */
    accessOfAll: Access | undefined;
  }
  interface FastifyRequest {
    signedIn: SignedIn | null;
    ownServer: WithId<Server> | null;
    isReadOnly: boolean;
  }
}

const STRANGER = { signedIn: null, cookies: [] };

/**
 * Checks the `config.access` of every route that is registered later in `app`.
 * @throws if such a route is registered without it, or with another one than its area's
 */
export function guardRoutes(app: FastifyInstance, deps: AppDeps, auth: Auth, areas: readonly Area[]): void {
  app.decorateRequest('signedIn', null);
  app.site.whoIs = (request) => whoIs(auth, signInHeaders(request)).then(({ signedIn }) => signedIn);
  app.decorateRequest('ownServer', null);
  app.decorateRequest('isReadOnly', false);
  app.decorate('accessOfAll', undefined);
  app.addHook('onRoute', function (route) {
    const { url, method, config } = route;
    const access = config?.access ?? this.accessOfAll;
    if (access === undefined) throw new Error(`${method} ${url} has no config.access`);
    route.config = { ...config, access };
    for (const one of [method].flat()) {
      const wanted = accessIn(areas, one, url.slice(app.site.base.length));
      if (access !== (wanted ?? access))
        throw new Error(`${one} ${url} has the access ${access}; its area says ${wanted}`);
      app.site.routes.push({ method: one, url, access });
    }
  });
  app.addHook('onRequest', async (request, reply) => {
    const { access, isFile } = request.routeOptions.config;
    if (access === undefined || isFile) return;
    // A look-up of a session costs more than a public page, and most visitors have no cookie.
    const { signedIn, cookies } = request.headers.cookie
      ? await whoIs(auth, signInHeaders(request))
      : STRANGER;
    for (const cookie of cookies) reply.header('set-cookie', cookie);
    request.signedIn = signedIn;
    if (signedIn) preferLanguageOf(request, deps.config, signedIn.user);
    if (access === 'anyone') return;
    if (!signedIn) return redirectToSignIn(request, reply);
    if (access === 'operator') return refuseUnlessOperator(deps, request, reply, signedIn);
    if (access === 'owner' || access === 'sole-owner')
      request.ownServer = await ownServerOf(deps, request, signedIn, access);
  });
}

/** What the sign-in library may read, and the client's address. */
export function signInHeaders(request: FastifyRequest): Headers {
  const headers = new Headers({ [ADDRESS_HEADER]: request.ip });
  for (const name of ['cookie', 'user-agent'] as const) {
    const value = request.headers[name];
    if (value) headers.set(name, value);
  }
  return headers;
}

export function userOf(request: FastifyRequest): SignedIn['user'] {
  if (!request.signedIn) throw new Error('this route requires a signed-in user');
  return request.signedIn.user;
}

export function serverOf(request: FastifyRequest): WithId<Server> {
  if (!request.ownServer) throw new Error('this route has no server: its access is not `owner`');
  return request.ownServer;
}

export function isByOperator(deps: AppDeps, { signedIn }: FastifyRequest): boolean {
  return signedIn !== null && mayActAsOperator(deps, signedIn);
}

function redirectToSignIn(request: FastifyRequest, reply: FastifyReply) {
  const { base } = request.server.site;
  if (!wantsPage(request)) throw new PageError(401, `Sign in at ${base}/sign-in first.`);
  const next = isPage(request) ? [`next=${encodeURIComponent(request.url)}`] : [];
  const notSent = request.method === 'GET' ? [] : ['done=not-sent'];
  return reply.redirect(`${base}/sign-in?${[...notSent, ...next].join('&')}`, 303);
}

/** A user can return to a page. Forms often have the path of theirs. */
function isPage({ method, server, routeOptions: { url } }: FastifyRequest): boolean {
  return method === 'GET' || (url !== undefined && server.hasRoute({ method: 'GET', url }));
}

function refuseUnlessOperator(
  deps: AppDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  signedIn: SignedIn,
) {
  // So owners cannot find out which admin pages exist.
  if (signedIn.user.role !== 'operator') throw new PageError(404, SENTENCES[404]);
  if (!isFreshSession(deps, signedIn)) return redirectToSignIn(request, reply);
  if (lacksSecondFactor(deps, signedIn.user)) {
    const { base } = request.server.site;
    if (!wantsPage(request)) throw new PageError(403, `Set up a second factor at ${base}/account first.`);
    return reply.redirect(`${base}/account/two-factor`, 303);
  }
  return undefined;
}

async function ownServerOf(
  deps: AppDeps,
  request: FastifyRequest,
  signedIn: SignedIn,
  access: 'owner' | 'sole-owner',
): Promise<WithId<Server>> {
  const { serverId = '' } = request.params as { serverId?: string };
  const missing = new PageError(404, defineMessage('You have no server with this id.'));
  if (!/^[0-9a-f]{24}$/.test(serverId)) throw missing;
  const server = await deps.servers.findOne({ _id: new ObjectId(serverId), removedAt: null });
  if (!server) throw missing;
  const role = roleOf(server, signedIn.user._id);
  if (role === 'owner' || mayActAsOperator(deps, signedIn)) return server;
  if (!role) throw missing;
  if (access === 'sole-owner')
    throw new PageError(403, defineMessage('Only the owner of this server may do this.'));
  request.isReadOnly = role === 'read';
  if (role === 'read' && request.method !== 'GET')
    throw new PageError(
      403,
      defineMessage('You may see this server, but not change it. Its owner can give you the role “full”.'),
    );
  return server;
}
