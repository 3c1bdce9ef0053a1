import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { WithId } from 'mongodb';
import { establishedAccount } from '../../accounts/mailbox.ts';
import { TOO_MANY_ATTEMPTS } from '../../accounts/sign-in-limits.ts';
import { notedUsername } from '../../favourites/favourites.ts';
import { NAME_RULES, nameKindOfServer } from '../../games/player-names.ts';
import { defineMessage, type Text, t } from '../../language/t.ts';
import { MINUTE } from '../../platform/clock.ts';
import type { Config } from '../../platform/config.ts';
import { defineLimit } from '../../platform/limits/define-limit.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import type { Server } from '../../servers/server.ts';
import { fitsServer, type NamesOfServer, nameOptionsOf } from '../../votes/identity/player-name.ts';
import type { ProvenIds } from '../../votes/identity/proven-id.ts';
import { offersSteam } from '../../votes/identity/steam-players.ts';
import {
  createSteamSignIn,
  type RefusedSignIn,
  type SignInPlace,
  type SteamSignInError,
} from '../../votes/identity/steam-sign-in.ts';
import type { Voter } from '../../votes/web/origin-keys.ts';
import { PageError } from '../error-pages.ts';
import { ANYONE } from '../route-options.ts';
import type { Typed } from '../shared/form.ts';
import { fieldsOf } from '../shared/form-fields.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { button, PLAYER_NAME } from '../shared/parts.ts';
import { publicPath } from '../shared/server-paths.ts';
import { throwIfUsedUp } from '../shared/used-up.ts';
import { serverOfForm, slugOfRequest } from './server-of-path.ts';

/** If the user's account is not established, the user votes like a visitor. */
export function voterOf({ clock }: AppDeps, { ip, signedIn }: FastifyRequest): Voter {
  return { address: ip, account: signedIn && establishedAccount(signedIn.user, clock.now()) };
}

export function accountOf(deps: AppDeps, request: FastifyRequest): 'none' | 'young' | 'established' {
  if (!request.signedIn) return 'none';
  return voterOf(deps, request).account ? 'established' : 'young';
}

/** Undefined if it is not a valid name for the server's game. */
export async function ownNameOf(deps: AppDeps, { signedIn }: FastifyRequest, server: NamesOfServer) {
  const name = signedIn && (await notedUsername(deps, signedIn.user._id));
  return name && fitsServer(server, name) ? name : undefined;
}

export type FormParts = { deps: AppDeps; provenIds: ProvenIds };

/** The SteamID that Steam confirmed for the browser; null if there is none or the server's players have no SteamIDs. */
export function provenIdOf({ deps, provenIds }: FormParts, { headers }: FastifyRequest, server: Server) {
  return offersSteam(deps.config, server) ? provenIds.find(headers.cookie) : null;
}

type Voting = {
  server: Pick<Server, 'name'> & NamesOfServer;
  config: Pick<Config, 'STEAM_SIGN_IN'>;
  provenId: string | null;
  typed: Typed;
  ownName?: string | undefined;
};

/** If Steam has confirmed a SteamID: a hidden field with it. */
export function identityField({ server, provenId, typed, ownName }: Omit<Voting, 'config'>): Html {
  if (provenId) return html`<input type="hidden" name="username" value="${provenId}" />`;
  const rule = NAME_RULES[nameKindOfServer(server)];
  return html`${fieldsOf(typed).text('username', {
    label: rule.label(),
    hint: rule.hint(nameOptionsOf(server)),
    value: ownName ?? '',
    // If the name has an error: screen readers read it, because it is above the field that has the focus.
    autofocus: Boolean(typed.errors.username),
    // `maxlength` counts UTF-16 code units, `longest` counts code points. A code point has at most two code units.
    maxlength: 2 * rule.longest,
    inputmode: rule.inputmode,
    required: true,
    ...PLAYER_NAME,
  })}`;
}

/** Only if the server's players have SteamIDs. */
export function steamAlternative(path: string, { server, config, provenId }: Voting): Content {
  return provenId || !offersSteam(config, server) ? '' : steamLink(path, false);
}

/** `isNeeded`: the server takes votes only from players who signed in. */
export function steamLink(path: string, isNeeded: boolean): Html {
  const about = isNeeded
    ? t('This server takes votes only from players who signed in through Steam.')
    : t('Steam tells this listing your SteamID, and nothing else. You need no account here.');
  return html`<div class="actions">
      <a class="button ${isNeeded ? '' : 'quiet'}" href="${path}/steam" rel="nofollow">${t('Sign in through Steam')}</a>
    </div>
    <p class="small soft">${about}</p>`;
}

export function votingAs(path: string, provenId: string | null): Content {
  if (!provenId) return '';
  return html`<div class="actions">
    <p>${t('Voting as <strong>{id}</strong>, confirmed by Steam.', { id: provenId })}</p>
    ${button({ to: `${path}/steam/drop`, text: t('Not you?') })}
  </div>`;
}

/** By the code in the address of the vote form. */
const REFUSED: Record<SteamSignInError, Text> = {
  cancelled: defineMessage('You cancelled the sign-in through Steam.'),
  malformed: defineMessage('Steam’s answer cannot be used. Sign in through Steam again.'),
  forged: defineMessage('Steam did not confirm this answer. Sign in through Steam again.'),
  used: defineMessage('This sign-in was used before. Sign in through Steam again.'),
  expired: defineMessage('The sign-in through Steam took too long. Sign in again.'),
  unavailable: defineMessage(
    'Steam does not answer at the moment, so your SteamID could not be confirmed. Try again later.',
  ),
  'another-address': defineMessage('This answer of Steam is for another page. Sign in through Steam again.'),
  'another-server': defineMessage('This sign-in through Steam is for another server. Sign in here again.'),
  'another-browser': defineMessage(
    'This sign-in through Steam did not begin in this browser, or it took too long. Sign in again.',
  ),
};

export function steamRefusal(code: unknown): string | undefined {
  return typeof code === 'string' && Object.hasOwn(REFUSED, code)
    ? t(REFUSED[code as SteamSignInError])
    : undefined;
}

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
