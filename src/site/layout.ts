import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { html, raw } from 'hono/html';
import type { Person } from '../accounts/person.ts';
import type { Content, Html } from './html.ts';
import { notice } from './parts.ts';
import type { Site } from './site.ts';

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
};

/** What a person opened stays open when its surroundings are refreshed; no style comes from a script. */
const HTMX = JSON.stringify({
  morphIgnore: ['data-htmx-powered', 'open'],
  includeIndicatorCSS: false,
  history: false,
});

/** The whole document. */
export function layout(site: Site, person: Person | null, page: Page & { path: string }): Html {
  const { title, width = 'wide', body, live = false, path } = page;
  const { base, name } = site;
  return html`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <meta name="robots" content="noindex" />
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
      <nav aria-label="Site">${links(site, person, path)}</nav>
    </header>
    <main id="content" class="${width}" tabindex="-1">${body}</main>
    <footer class="site-foot"><a href="${base}/docs/">API reference</a></footer>
  </body>
</html>`;
}

function links({ base }: Site, person: Person | null, path: string): Html {
  const link = (href: string, text: string) =>
    html`<a href="${base}${href}" ${isUnder(path, `${base}${href}`) ? html`aria-current="true"` : ''}>${text}</a>`;
  if (!person) return html`${link('/sign-in', 'Sign in')}${link('/sign-up', 'Sign up')}`;
  return html`${link('/dashboard', 'Your servers')}
    ${person.role === 'operator' ? link('/operator', 'Operator desk') : ''} ${link('/account', 'Account')}
    <form method="post" action="${base}/sign-out" class="one-button"><button class="link" type="submit">Sign out</button></form>`;
}

function isUnder(path: string, of: string): boolean {
  return path === of || path.startsWith(`${of}/`);
}

/** Sends a page to whoever asked. It is never stored: what it shows is one person's. */
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
  const person = request.signedIn?.person ?? null;
  const path = request.url.split('?')[0] ?? '';
  return layout(request.server.site, person, { ...page, body, path });
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
