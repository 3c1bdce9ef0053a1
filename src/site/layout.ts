import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { html, raw } from 'hono/html';
import type { User } from '../accounts/user.ts';
import type { Content, Html } from './html.ts';
import { notice } from './parts.ts';
import type { Site } from './site-settings.ts';

/** What every page has. */
export type Page = {
  title: string;
  /** `narrow` for one form, `wide` for tables. */
  width?: 'narrow' | 'wide';
  body: Content;
  /** Something on it changes by itself (htmx is loaded). */
  live?: boolean;
  /**
   * What it says at its top after something was done and the browser was sent here with `?done=<code>`: by code,
   * so that no stranger's link can put words into our mouth.
   */
  says?: Record<string, string>;
  /** Where everybody may find it, search engines too. Without this a page is one user's. */
  listed?: Listed;
};

/** What a public page says of itself to those who link to it. */
export type Listed = {
  /** Its one address, as a path under the site's base with its query: what else shows the same is a copy of it. */
  canonical: string;
  /** One sentence or two for search engines and previews. */
  description: string;
  /** An image for previews, as a path under the site's base. */
  image?: { path: string; width: number; height: number; alt: string };
  /** The neighbouring pages of a list, as paths under the site's base. */
  previous?: string | undefined;
  next?: string | undefined;
};

/** What a user opened stays open when its surroundings are refreshed; no style comes from a script. */
const HTMX = JSON.stringify({
  morphIgnore: ['data-htmx-powered', 'open'],
  includeIndicatorCSS: false,
  history: false,
});

/** The whole document. */
export function layout(site: Site, user: User | null, page: Page & { path: string }): Html {
  const { title, width = 'wide', body, live = false, path, listed } = page;
  const { base, name } = site;
  return html`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    ${listed ? listing(site, title, listed) : html`<meta name="robots" content="noindex" />`}
    <title>${title} · ${name}</title>
    <link rel="icon" type="image/svg+xml" href="${site.asset('tallyport.svg')}" />
    <link rel="stylesheet" href="${site.asset('site.css')}" />
    <script type="module" src="${site.asset('page.js')}"></script>
    ${live ? html`<meta name="htmx-config" content="${HTMX}" /><script defer src="${site.asset('htmx.js')}"></script>` : ''}
  </head>
  <body>
    <a class="skip" href="#content">Skip to the content</a>
    <header class="site-head">
      <a class="brand" href="${base}/"><img src="${site.asset('tallyport.svg')}" alt="" width="28" height="28" />${name}</a>
      <nav aria-label="Site">${links(site, user, path)}</nav>
      ${site.notice ? html`<p class="site-notice" dir="auto">${site.notice}</p>` : ''}
    </header>
    <main id="content" class="${width}" tabindex="-1">${body}</main>
    <footer class="site-foot"><a href="${base}/how-ranking-works">How the ranking works</a><a href="${base}/docs/">API reference</a></footer>
  </body>
</html>`;
}

/** What search engines and previews read. Addresses are whole ones: whoever reads them is not here. */
function listing(
  { url, name }: Site,
  title: string,
  { canonical, description, image, ...list }: Listed,
): Html {
  const card = image
    ? html`<meta property="og:image" content="${url}${image.path}" />
    <meta property="og:image:width" content="${String(image.width)}" />
    <meta property="og:image:height" content="${String(image.height)}" />
    <meta property="og:image:alt" content="${image.alt}" />`
    : '';
  return html`<meta name="description" content="${description}" />
    <link rel="canonical" href="${url}${canonical}" />
    ${list.previous ? html`<link rel="prev" href="${url}${list.previous}" />` : ''}
    ${list.next ? html`<link rel="next" href="${url}${list.next}" />` : ''}
    <meta property="og:type" content="website" />
    <meta property="og:site_name" content="${name}" />
    <meta property="og:title" content="${title}" />
    <meta property="og:description" content="${description}" />
    <meta property="og:url" content="${url}${canonical}" />
    ${card}`;
}

function links({ base }: Site, user: User | null, path: string): Html {
  const link = (href: string, text: string) =>
    html`<a href="${base}${href}" ${isUnder(path, `${base}${href}`) ? html`aria-current="true"` : ''}>${text}</a>`;
  const isListing = path.replace(/\/$/, '') === base || isUnder(path, `${base}/servers`);
  const ranking = html`<a href="${base}/" ${isListing ? html`aria-current="true"` : ''}>Servers</a>`;
  if (!user) return html`${ranking}${link('/sign-in', 'Sign in')}${link('/sign-up', 'Sign up')}`;
  return html`${ranking}${link('/dashboard', 'Your servers')}
    ${user.role === 'operator' ? link('/operator', 'Admin area') : ''} ${link('/account', 'Account')}
    <form method="post" action="${base}/sign-out" class="one-button"><button class="link" type="submit">Sign out</button></form>`;
}

function isUnder(path: string, of: string): boolean {
  return path === of || path.startsWith(`${of}/`);
}

/** Sends a page to whoever asked. It is never stored: what it shows is one user's. */
export async function sendPage(
  request: FastifyRequest,
  reply: FastifyReply,
  page: Page,
  status = 200,
): Promise<FastifyReply> {
  return sendHtml(reply, pageFor(request, page), status);
}

function pageFor(request: FastifyRequest, page: Page): Html {
  const { done } = request.query as { done?: unknown };
  const says = new Map(Object.entries(page.says ?? {}));
  const sentence = typeof done === 'string' ? says.get(done) : undefined;
  const body = html`${sentence ? notice('good', sentence) : ''}${page.body}`;
  return wholePage(request, { ...page, body });
}

/** The document for whoever asked, with nothing said at its top. */
export function wholePage(request: FastifyRequest, page: Page): Html {
  const user = request.signedIn?.user ?? null;
  const path = request.url.split('?')[0] ?? '';
  return layout(request.server.site, user, { ...page, path });
}

/** Stands in a page where its pieces come. Nothing that was typed can be it: that is escaped. */
const PIECES = '<!--pieces-->';

/**
 * Sends a page whose middle is written piece by piece while something runs: browsers show what they have, with a
 * script or without, and the one process that runs it answers, however many there are.
 *
 * @param page - its body for the place of the pieces
 * @param pieces - must not throw
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
    for await (const piece of pieces) yield String(await piece);
    yield tail;
  }
  return reply
    .header('cache-control', 'no-store')
    .header('x-accel-buffering', 'no')
    .type('text/html; charset=utf-8')
    .send(Readable.from(written()));
}

/** Sends a piece of a page, for a script that puts it in its place. */
export async function sendHtml(reply: FastifyReply, content: Html, status = 200): Promise<FastifyReply> {
  return reply
    .code(status)
    .header('cache-control', 'no-store')
    .type('text/html; charset=utf-8')
    .send(String(await content));
}
