import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { User } from '../../accounts/user.ts';
import { compressPage } from '../../http/compressed.ts';
import { inLanguage, languageNow, nameOfLanguage } from '../../language/language.ts';
import { type Text, t } from '../../language/t.ts';
import type { AssetName } from '../assets.ts';
import { SITE_PAGES, type SitePageName } from '../site-pages.ts';
import { contactHref } from './contact.ts';
import type { Site } from './decorate-site.ts';
import { type Content, type Html, html, raw } from './html.ts';
import { icon } from './icon.ts';
import { notice } from './parts.ts';
import { type SearchMetadata, searchMetadata } from './search-metadata.ts';

export type Page = {
  title: string;
  /** `narrow` for one form, `text` for a text, `wide` for tables, `full` if parts reach the edges of the window. */
  width?: 'narrow' | 'text' | 'wide' | 'full';
  body: Content;
  /** The rail of a page of an area. */
  side?: Html | ((site: Site) => Html);
  /** Before the site has an operator, nobody can sign in. The offline page is the same for everybody. */
  hasNoSignIn?: boolean;
  live?: boolean;
  scripts?: AssetName[];
  styles?: AssetName[];
  /**
   * Shown after a redirect with `?done=<code>`, by code. If links contained the text, anybody could make a link that
   * lets the site show any text.
   */
  messages?: Record<string, Text>;
  /** Below `base`, without parameters that do not change the page; by default the request's path. */
  address?: string;
  /** A page without metadata gets `noindex`. */
  metadata?: SearchMetadata;
};

/** What the frame of an area gives a page. */
export type Framed = Required<Pick<Page, 'side' | 'body'>>;

const ADD_SERVER = '/dashboard/servers/new';

/** What a user has opened stays open after a refresh, and htmx adds no styles and no history. */
const HTMX = JSON.stringify({
  morphIgnore: ['data-htmx-powered', 'open'],
  includeIndicatorCSS: false,
  history: false,
});

export function layout(
  site: Site,
  user: User | null,
  page: Page & { path: string; isLanguageInAddress: boolean },
): Html {
  const { title, width = 'wide', body, side, hasNoSignIn, live = false } = page;
  const { scripts = [], styles = [], path, metadata } = page;
  const { base, name, logo } = site;
  const address = page.address === undefined ? path : `${base}${page.address}`;
  const size = html`width="${String(logo.width)}" height="${String(logo.height)}"`;
  const brand = logo.width > 2 * logo.height ? 'brand wide-logo' : 'brand';
  const picture = html`<img src="${logo.href}" alt="" ${size} />`;
  const sheets: AssetName[] = ['site.css', ...(side ? (['work.css'] as const) : []), ...styles];
  const main = html`<main id="content" class="${side ? 'work' : width}" tabindex="-1">${body}</main>`;
  return html`<!doctype html>
<html lang="${languageNow()}">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    ${
      metadata
        ? searchMetadata(site, title, metadata, page.isLanguageInAddress)
        : html`<meta name="robots" content="noindex" />`
    }
    <title>${title} · ${name}</title>
    <link rel="icon" type="${logo.type}" href="${logo.href}" />
    <link rel="manifest" href="${base}/manifest.webmanifest" />
    <link rel="preload" href="${site.asset('bricolage-grotesque.woff2')}" as="font" type="font/woff2" crossorigin />
    <script src="${site.asset('theme.js')}"></script>
    ${sheets.map((name) => stylesheet(site.asset(name)))}
    ${site.accentStyle ? stylesheet(site.accentStyle) : ''}
    <script type="module" src="${site.asset('page.js')}"></script>
    ${scripts.map((name) => html`<script type="module" src="${site.asset(name)}"></script>`)}
    ${
      live
        ? html`<meta name="htmx-config" content="${HTMX}" /><script defer src="${site.asset('htmx.js')}"></script>`
        : ''
    }
  </head>
  <body>
    <a class="skip" href="#content">${t('Skip to the content')}</a>
    <header class="site-head">
      <a class="${brand}" href="${base}/">${picture}<span dir="auto">${name}</span></a>
      <nav aria-label="${t('Site')}">${hasNoSignIn ? '' : links(site, user, path)}</nav>
      <div class="own">${themeSwitch()}${hasNoSignIn ? '' : user ? ownLinks(site, path) : signInLink(site, page)}</div>
    </header>
    ${bars(site)}
    ${side ? html`<div class="shell">${typeof side === 'function' ? side(site) : side}${main}</div>` : main}
    <footer class="site-foot">${footer(site)}${languageSwitch(site, address)}</footer>
  </body>
</html>`;
}

function stylesheet(href: string): Html {
  return html`<link rel="stylesheet" href="${href}" />`;
}

function bars({ announcement, notice }: Site): Content {
  const shown = announcement.shown();
  if (!shown && !notice) return '';
  const line = notice ? html`<p class="site-notice" dir="auto">${notice}</p>` : '';
  return html`<aside class="bars" aria-label="${t('Notices')}">${shown}${line}</aside>`;
}

function footer(site: Site): Html {
  const { base, pages, footerLinks } = site;
  const contact = contactHref(site);
  const names = Object.keys(SITE_PAGES) as SitePageName[];
  const own = names.filter((name) => name !== 'contact' && (pages.has(name) || name === 'privacy'));
  const link = (href: string, text: string) => html`<a href="${href}">${text}</a>`;
  return html`${[
    link(`${base}/how-ranking-works`, t('How the ranking works')),
    link(`${base}/docs/`, t('API reference')),
    contact ? link(contact, t('Contact')) : '',
    own.map((name) => link(`${base}/${name}`, t(SITE_PAGES[name]))),
    footerLinks.map(({ text, href }) => html`<a href="${href}" dir="auto">${text}</a>`),
  ]}`;
}

function languageSwitch({ base, languages }: Site, address: string): Html {
  const others = languages.filter((language) => language !== languageNow());
  const next = encodeURIComponent(address);
  return html`${others.map(
    (language) => html`<a href="${base}/language/${language}?next=${next}" lang="${language}"
      hreflang="${language}" rel="nofollow">${nameOfLanguage(language)}</a>`,
  )}`;
}

function links({ base }: Site, user: User | null, path: string): Html {
  const link = (href: string, text: string, isCurrent = isUnder(path, `${base}${href}`)) =>
    html`<a href="${base}${href}" ${isCurrent ? html`aria-current="true"` : ''}>${text}</a>`;
  const isListing = path.replace(/\/$/, '') === base || isUnder(path, `${base}/servers`);
  const everywhere = html`${link('/', t('Servers'), isListing)}${link('/games', t('Games'))}`;
  // Most visitors have no account yet; the sign-up page links to the sign-in.
  if (!user)
    return html`${everywhere}<a href="${base}/sign-up?next=${base}${ADD_SERVER}">${t('Add a server')}</a>`;
  return html`${everywhere}${link('/favourites', t('Favourites'))}${link('/dashboard', t('Your servers'))}
    ${user.role === 'operator' ? link('/operator', t('Admin area')) : ''}`;
}

/** Hidden until a script shows it and sets its state. */
function themeSwitch(): Html {
  return html`<button class="theme" type="button" hidden data-theme-switch aria-pressed="false"
    title="${t('Dark colours')}">${icon('sun-moon')}<span class="for-readers">${t('Dark colours')}</span></button>`;
}

/** From a page with `metadata` and `address`, the sign-in returns to that page, else to the user's start page. */
function signInLink({ base }: Site, { address = '/', metadata }: Page): Html {
  const next = metadata && address !== '/' ? `?next=${encodeURIComponent(`${base}${address}`)}` : '';
  return html`<a class="framed" href="${base}/sign-in${next}" rel="nofollow">${t('Sign in')}</a>`;
}

function ownLinks({ base }: Site, path: string): Html {
  const current = isUnder(path, `${base}/account`) ? html`aria-current="true"` : '';
  return html`<a class="framed add" href="${base}${ADD_SERVER}" title="${t('Add a server')}">${icon('plus')}<span
      class="word">${t('Add a server')}</span></a>
    <a class="framed" href="${base}/account" ${current}>${icon('user')}<span
      class="word">${t('Account')}</span></a>
    <form method="post" action="${base}/sign-out" class="one-button">
      <button class="framed" type="submit">${icon('log-out')}<span class="word">${t('Sign out')}</span></button>
    </form>`;
}

function isUnder(path: string, of: string): boolean {
  return path === of || path.startsWith(`${of}/`);
}

export async function sendPage(
  request: FastifyRequest,
  reply: FastifyReply,
  page: Page,
  status = 200,
): Promise<FastifyReply> {
  const content = pageFor(request, page);
  if (!isOwnNavigation(request)) return sendHtml(reply, content, status);
  const body = await compressPage(request, reply, String(await content));
  return reply.code(status).header('cache-control', 'no-store').type('text/html; charset=utf-8').send(body);
}

/**
 * Only responses that a signed-in user caused here are compressed: if another site could cause them, it could guess
 * secrets in them by their sizes (BREACH, docs/adr/0099-compressed-pages.md).
 */
function isOwnNavigation({ method, headers, signedIn }: FastifyRequest): boolean {
  const { 'sec-fetch-site': from, 'sec-fetch-dest': to } = headers;
  return (
    method === 'GET' &&
    signedIn !== null &&
    signedIn !== undefined &&
    to === 'document' &&
    (from === 'same-origin' || from === 'none')
  );
}

function pageFor(request: FastifyRequest, page: Page): Html {
  const { done } = request.query as { done?: unknown };
  const messages = new Map(Object.entries(page.messages ?? {}));
  const message = typeof done === 'string' ? messages.get(done) : undefined;
  const readOnly = request.isReadOnly
    ? notice('quiet', t('You may see this server, but not change it.'))
    : '';
  const body = html`${message ? notice('good', t(message)) : ''}${readOnly}${page.body}`;
  return wholePage(request, { ...page, body });
}

export function wholePage(request: FastifyRequest, page: Page): Html {
  const user = request.signedIn?.user ?? null;
  const path = request.url.split('?')[0] ?? '';
  return layout(request.server.site, user, {
    ...page,
    path,
    isLanguageInAddress: request.isLanguageInAddress,
  });
}

/** User input cannot contain this mark, because input is escaped. */
const PIECES = '<!--pieces-->';

/**
 * Streams a page whose middle is written while an operation runs: it needs no script, and no stored progress. `pieces`
 * must not throw.
 */
export function streamPage(
  request: FastifyRequest,
  reply: FastifyReply,
  page: Omit<Page, 'body'> & { body: (pieces: Content) => Content },
  pieces: AsyncIterable<Html>,
): FastifyReply {
  const whole = String(pageFor(request, { ...page, body: page.body(raw(PIECES)) }));
  const [head = '', tail = ''] = whole.split(PIECES);
  async function* written(): AsyncGenerator<string> {
    yield head;
    for await (const piece of inLanguageOfPage(request, pieces)) yield String(await piece);
    yield tail;
  }
  return reply
    .header('cache-control', 'no-store')
    .header('x-accel-buffering', 'no')
    .type('text/html; charset=utf-8')
    .send(Readable.from(written()));
}

/** The stream requests the pieces outside of the async context in which `t` finds the language. */
async function* inLanguageOfPage(
  { language }: FastifyRequest,
  pieces: AsyncIterable<Html>,
): AsyncGenerator<Html> {
  const iterator = pieces[Symbol.asyncIterator]();
  try {
    for (;;) {
      const { done, value } = await inLanguage(language, () => iterator.next());
      if (done) return;
      yield value;
    }
  } finally {
    await iterator.return?.();
  }
}

export async function sendHtml(reply: FastifyReply, content: Html, status = 200): Promise<FastifyReply> {
  return reply
    .code(status)
    .header('cache-control', 'no-store')
    .type('text/html; charset=utf-8')
    .send(String(await content));
}
