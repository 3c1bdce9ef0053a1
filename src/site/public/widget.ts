import type { ServerInfo } from '../../history/server-info.ts';
import type { Site } from '../shared/decorate-site.ts';
import { count, counted } from '../shared/format.ts';
import { type Html, html } from '../shared/html.ts';
import { playersText } from '../shared/server-figures.ts';
import { publicPath } from '../shared/server-paths.ts';

/** The headers of the widget. Any site may show it in a frame. It cannot run scripts or send forms. */
export const WIDGET_HEADERS = {
  'content-security-policy':
    "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors *",
  'referrer-policy': 'no-referrer',
};

/** `/servers/<slug>/widget`: a server's figures and a vote button, to embed in an iframe. */
export function widgetPage(site: Site, info: ServerInfo & { slug: string }): Html {
  const page = `${site.url}${publicPath(info)}`;
  const facts = [
    playersText(info),
    `rank ${count(info.rankPosition)}`,
    `${counted(info.monthlyVotes, 'vote')} this month`,
  ];
  return html`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <meta name="robots" content="noindex" />
    <title>${info.name} · ${site.name}</title>
    <link rel="stylesheet" href="${site.asset('widget.css')}" />
    ${site.accentStyle ? html`<link rel="stylesheet" href="${site.accentStyle}" />` : ''}
  </head>
  <body>
    <main>
      <h1><a href="${page}" target="_blank" rel="noopener"><bdi>${info.name}</bdi></a></h1>
      <p><span class="dot ${info.status}"></span>${facts.join(' · ')}</p>
      <p class="actions">
        <a class="button" href="${page}/vote" target="_blank" rel="noopener">Vote</a> <span>on ${site.name}</span>
      </p>
    </main>
  </body>
</html>`;
}
