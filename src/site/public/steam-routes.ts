import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { WithId } from 'mongodb';
import { TOO_MANY_ATTEMPTS } from '../../accounts/sign-in-limits.ts';
import { t } from '../../language/t.ts';
import { MINUTE } from '../../platform/clock.ts';
import { defineLimit } from '../../platform/limits/define-limit.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import type { Server } from '../../servers/server.ts';
import type { ProvenIds } from '../../votes/identity/proven-id.ts';
import { offersSteam } from '../../votes/identity/steam-players.ts';
import {
  createSteamSignIn,
  type RefusedSignIn,
  type SignInPlace,
} from '../../votes/identity/steam-sign-in.ts';
import { PageError } from '../error-pages.ts';
import { ANYONE } from '../route-options.ts';
import { publicPath } from '../shared/server-paths.ts';
import { throwIfUsedUp } from '../shared/used-up.ts';
import { serverOfForm, slugOfRequest } from './server-of-path.ts';

/** A whole school may share a network. */
const OF_NETWORK = {
  of: 'network',
  times: 30,
  windowMs: 10 * MINUTE,
  sentence: TOO_MANY_ATTEMPTS,
} as const;
const SIGN_INS = defineLimit({ ...OF_NETWORK, key: 'steam-sign-in', what: 'Sign-ins that begin at Steam' });
const RETURNS = defineLimit({ ...OF_NETWORK, key: 'steam-return', what: 'Returns from Steam' });

/** No HEAD routes: if a link checker sent HEAD, the request would begin a sign-in, or use one up. */
const OPTIONS = { ...ANYONE, exposeHeadRoute: false } as const;
/** The return waits for Steam. It uses no slot for pages: if Steam hung, such requests would occupy all slots. */
const RETURN_OPTIONS = { ...OPTIONS, config: { ...ANYONE.config, skipsSlotHook: true } } as const;

/** The routes under `/servers/<slug>/vote/steam`: begin a sign-in through Steam, return from it, drop the SteamID. */
export function steamRoutes(app: FastifyInstance, deps: AppDeps, provenIds: ProvenIds): void {
  const { site } = app;
  const signIn = createSteamSignIn(deps, deps.clock);
  const formOf = (server: Pick<Server, 'slug'>) => `${site.base}${publicPath(server, '/vote')}`;
  // The return address has the slug of the request, which may be an earlier slug of the server.
  const placeOf = (request: FastifyRequest, { _id }: WithId<Server>): SignInPlace => ({
    serverId: _id,
    returnAddress: `${site.url}${publicPath({ slug: slugOfRequest(request) }, '/vote/steam/return')}`,
  });
  const redirect = (reply: FastifyReply, address: string) =>
    reply.header('cache-control', 'no-store').redirect(address, 303);

  app.get('/servers/:slug/vote/steam', OPTIONS, async (request, reply) => {
    const server = await steamServer(deps, request);
    // A cached page may show the link to sign in to a browser that has a SteamID. Such a browser needs no sign-in.
    if (provenIds.find(request.headers.cookie)) return redirect(reply, formOf(server));
    await throwIfUsedUp(deps, SIGN_INS, request.ip);
    const { address, cookie } = signIn.begin(placeOf(request, server), request.headers.cookie);
    return redirect(reply.header('set-cookie', cookie), address);
  });

  app.get('/servers/:slug/vote/steam/return', RETURN_OPTIONS, async (request, reply) => {
    const server = await steamServer(deps, request);
    const refuse = ({ error, reason }: RefusedSignIn) => {
      request.log.info({ event: 'steam.sign_in_refused', code: error, reason });
      return redirect(reply, `${formOf(server)}?steam=${error}`);
    };
    const query = new URL(request.url, site.url).searchParams;
    const place = placeOf(request, server);
    const begun = signIn.check(place, query, request.headers.cookie);
    if ('error' in begun) return refuse(begun);
    await throwIfUsedUp(deps, RETURNS, request.ip);
    const finished = await signIn.finish(place, query, begun);
    if ('error' in finished) return refuse(finished);
    request.log.info({ event: 'steam.signed_in' });
    return redirect(reply.header('set-cookie', provenIds.cookieFor(finished.steamId)), formOf(server));
  });

  app.post('/servers/:slug/vote/steam/drop', ANYONE, async (request, reply) => {
    const server = await serverOfForm(deps, request);
    return redirect(reply.header('set-cookie', provenIds.dropCookie()), formOf(server));
  });
}

/** @throws {PageError} 404 if the vote form of the server offers no sign-in through Steam */
async function steamServer(deps: AppDeps, request: FastifyRequest): Promise<WithId<Server>> {
  const server = await serverOfForm(deps, request);
  if (!offersSteam(deps.config, server))
    throw new PageError(404, t('This server does not ask for a SteamID.'));
  return server;
}
