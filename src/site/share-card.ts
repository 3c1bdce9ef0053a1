import { html } from 'hono/html';
import type { Server } from '../servers/server.ts';
import type { Html } from './html.ts';
import { card, copyable } from './parts.ts';
import { BADGE, BANNER, publicPath, WIDGET } from './server-paths.ts';
import type { Site } from './site-settings.ts';

/** Characters with a meaning in Markdown. */
const MARKDOWN_SIGNS = /[\\`*_{}[\]()#+\-.!<>&|~]/g;

/** A server's banner and badge, and the code that embeds them elsewhere. */
export function shareCard(site: Site, server: Pick<Server, 'name' | 'slug'>): Html {
  const { base, url } = site;
  const page = `${url}${publicPath(server)}`;
  const banner = `${url}${publicPath(server, '/banner.svg')}`;
  const badge = `${url}${publicPath(server, '/badge.svg')}`;
  const { width, height } = BANNER;
  const alt = `Vote for ${server.name}`;
  const asHtml = String(
    html`<a href="${page}"><img src="${banner}" width="${width}" height="${height}" alt="${alt}"></a>`,
  );
  const widget = String(
    html`<iframe src="${`${url}${publicPath(server, '/widget')}`}" width="${String(WIDGET.width)}" height="${String(WIDGET.height)}" title="${alt}" loading="lazy" style="border:0"></iframe>`,
  );
  return card({
    id: 'share',
    title: 'Share',
    body: html`<p><img class="banner" src="${base}${publicPath(server, '/banner.svg')}" width="${String(width)}" height="${String(height)}" alt="The banner" loading="lazy" /></p>
      <p><img src="${base}${publicPath(server, '/badge.svg')}" height="${String(BADGE.height)}" alt="The badge" loading="lazy" /></p>
      <p class="soft">The images and the widget update automatically. Embed them on a website, in a forum or in a README:</p>
      <details><summary>Show embed code</summary><div class="spaced">
        <h3>Page address</h3>${copyable(page, 'the page’s address')}
        <h3>Banner, HTML</h3>${copyable(asHtml, 'the banner as HTML')}
        <h3>Banner, Markdown</h3>${copyable(markdown(alt, banner, page), 'the banner as Markdown')}
        <h3>Banner, BBCode</h3>${copyable(`[url=${page}][img]${banner}[/img][/url]`, 'the banner as BBCode')}
        <h3>Widget with a vote button, HTML</h3>${copyable(widget, 'the widget as HTML')}
        <h3>Badge, Markdown</h3>${copyable(markdown(alt, badge, page), 'the badge as Markdown')}
        <h3>Badge, BBCode</h3>${copyable(`[url=${page}][img]${badge}[/img][/url]`, 'the badge as BBCode')}
      </div></details>`,
  });
}

function markdown(alt: string, image: string, page: string): string {
  return `[![${alt.replace(MARKDOWN_SIGNS, '\\$&')}](${image})](${page})`;
}
