import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { inLanguage, type Language } from '../../language/language.ts';
import { t } from '../../language/t.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import type { ListedRow } from '../../ranking/listed-rows.ts';
import { readListPage } from '../../ranking/read-lists.ts';
import { CACHED } from '../route-options.ts';
import { sendPublic } from '../send-public-page.ts';
import type { Site } from '../shared/decorate-site.ts';
import { gameName, isGame } from '../shared/game-names.ts';
import { type Html, html } from '../shared/html.ts';
import { inLanguageOf } from '../shared/search-metadata.ts';
import { publicPath } from '../shared/server-paths.ts';
import { noSuchGame } from './list-texts.ts';
import { gamePath } from './ranking-query.ts';
import { imageText } from './svg-text.ts';

const ATOM = 'application/atom+xml; charset=utf-8';

/** The last change of a feed without entries. */
const NEVER = new Date(0);

/** The feed of new servers: of one game, or of all. */
export function feedPath(game?: string | undefined): string {
  return `${game ? gamePath(game) : ''}/feed.atom`;
}

export function feedTitle(listing: string, game?: string | undefined): string {
  return game
    ? t('New {game} servers on {listing}', { game: gameName(game), listing })
    : t('New servers on {listing}', { listing });
}

/** Atom (RFC 4287), in the language of the address (`?lang=de`): the answer is cached for all readers. */
export function feeds(app: FastifyInstance, deps: AppDeps): void {
  app.get('/feed.atom', CACHED, (request, reply) => send(request, reply));
  app.get('/games/:game/feed.atom', CACHED, (request, reply) => {
    const { game } = request.params as { game: string };
    if (!/^[a-z0-9]{1,50}$/.test(game)) throw noSuchGame();
    return send(request, reply, game);
  });

  function send(request: FastifyRequest, reply: FastifyReply, game?: string) {
    const language: Language = request.isLanguageInAddress ? request.language : 'en';
    const path = language === 'en' ? feedPath(game) : inLanguageOf(feedPath(game), language);
    return sendPublic(request, reply, path, {
      type: ATOM,
      limit: () => app.limitPages(request),
      make: async () => {
        const { rows = [] } = (await readListPage(deps, { game }, 1, 'newest')) ?? {};
        if (game && rows.length === 0 && !isGame(game)) throw noSuchGame();
        return inLanguage(language, async () =>
          String(await newServersFeed(app.site, { rows, game, path, language })),
        );
      },
    });
  }
}

type Feed = { rows: ListedRow[]; game: string | undefined; path: string; language: Language };

/** The id of an entry contains the server's id, so that a renamed server stays the same entry. */
function newServersFeed({ url, name }: Site, { rows, game, path, language }: Feed): Html {
  const updated = rows[0]?.listedAt ?? NEVER;
  const listing = imageText(name);
  return html`<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="${language}">
<id>${url}${path}</id>
<title>${feedTitle(listing, game)}</title>
<updated>${updated.toISOString()}</updated>
<author><name>${listing}</name></author>
<link rel="self" type="application/atom+xml" href="${url}${path}"/>
<link rel="alternate" type="text/html" href="${url}${game ? gamePath(game) : '/'}"/>
${rows.map((row) => entry(url, row))}</feed>
`;
}

function entry(url: string, row: ListedRow): Html {
  const { id, name, game, listedAt, shortText } = row;
  const summary = shortText || (game ? t('A {game} server.', { game: gameName(game) }) : '');
  return html`<entry>
<id>${url}${publicPath({ slug: id })}</id>
<title>${imageText(name)}</title>
<link rel="alternate" type="text/html" href="${url}${publicPath(row)}"/>
<published>${listedAt.toISOString()}</published>
<updated>${listedAt.toISOString()}</updated>
${game ? html`<category term="${game}" label="${gameName(game)}"/>\n` : ''}<summary>${imageText(summary)}</summary>
</entry>
`;
}
