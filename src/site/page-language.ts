import type { FastifyInstance, FastifyRequest } from 'fastify';
import { parseAccept } from 'hono/utils/accept';
import type { User } from '../accounts/user.ts';
import { defaultLanguage, inLanguage, type Language, offeredLanguages } from '../language/language.ts';
import { t } from '../language/t.ts';
import type { ConnectedConfig } from '../platform/config.ts';
import type { AppDeps } from '../process/app-deps.ts';
import { PageError } from './error-pages.ts';
import { ANYONE } from './route-options.ts';
import { nextPage } from './shared/next-path.ts';

declare module 'fastify' {
  interface FastifyRequest {
    language: Language;
    isLanguageInAddress: boolean;
  }
}

const COOKIE = 'tallyport-language';
const COOKIE_VALUE = new RegExp(`(?:^|;\\s*)${COOKIE}=([a-z]{2,3})`);
/** Browsers send far fewer characters. */
const MAX_HEADER = 200;
const COOKIE_SECONDS = 365 * 86_400;

/**
 * The language in the URL (`?lang=de`), else the one that the visitor chose, else the account's, else the browser's, else
 * `DEFAULT_LANGUAGE`; of these, the first that the operator has not switched off. The admin area and the API are in
 * English.
 */
export function chooseLanguage(app: FastifyInstance, config: ConnectedConfig): void {
  app.decorateRequest('language', 'en');
  app.decorateRequest('isLanguageInAddress', false);
  app.addHook('onRequest', (request, _reply, done) => {
    const { access } = request.routeOptions.config;
    if (access === 'operator' || (access === undefined && !request.is404)) return done();
    const asked = (request.query as { lang?: unknown } | undefined)?.lang;
    const offered = offeredLanguages(config);
    const inAddress = offered.find((language) => language === asked);
    request.isLanguageInAddress = inAddress !== undefined;
    request.language =
      inAddress ?? chosen(request, offered) ?? preferred(request, offered) ?? defaultLanguage(config);
    return inLanguage(request.language, done);
  });
  // While a body is read, the async context with the language is lost.
  app.addHook('preValidation', (request, _reply, done) => inLanguage(request.language, done));
}

/** The language that a user chose in another browser, unless the address or this browser says another one. */
export function preferLanguageOf(
  request: FastifyRequest,
  config: ConnectedConfig,
  { language, choseLanguage }: Pick<User, 'language' | 'choseLanguage'>,
): void {
  const offered = offeredLanguages(config);
  const { access } = request.routeOptions.config;
  if (access === 'operator' || request.isLanguageInAddress || chosen(request, offered)) return;
  if (choseLanguage && language && offered.includes(language)) request.language = language;
}

/** Sets the language of this browser, and that of a user's pages and mails. */
export function languageLinks(app: FastifyInstance, { users, config }: AppDeps): void {
  const { base } = app.site;
  const secure = config.PUBLIC_URL.startsWith('https:') ? '; Secure' : '';
  app.get('/language/:language', { ...ANYONE, exposeHeadRoute: false }, async (request, reply) => {
    const { language } = request.params as { language: string };
    if (!app.site.languages.includes(language))
      throw new PageError(404, t('This listing does not have this language.'));
    const { user } = request.signedIn ?? {};
    // A link on another site changes this browser's language only.
    const isOwn = request.headers['sec-fetch-site'] === 'same-origin';
    if (user && isOwn) await users.updateOne({ _id: user._id }, { $set: { language, choseLanguage: true } });
    const { next } = request.query as { next?: unknown };
    return reply
      .header(
        'set-cookie',
        `${COOKIE}=${language}; Path=${base || '/'}; Max-Age=${COOKIE_SECONDS}; SameSite=Lax; HttpOnly${secure}`,
      )
      .header('cache-control', 'no-store')
      .redirect(nextPage(app, next, `${base}/`), 303);
  });
}

function chosen({ headers: { cookie } }: FastifyRequest, offered: Language[]): Language | undefined {
  const value = cookie?.match(COOKIE_VALUE)?.[1];
  return offered.find((language) => language === value);
}

/** `Accept-Language` is of RFC 9110, 12.5.4; `de-AT` counts as `de`. */
function preferred({ headers }: FastifyRequest, offered: Language[]): Language | undefined {
  const accepted = parseAccept((headers['accept-language'] ?? '').slice(0, MAX_HEADER))
    .filter(({ q }) => q > 0)
    .map(({ type }) => type.toLowerCase().split('-')[0] ?? '');
  return accepted.find((language) => offered.includes(language));
}
