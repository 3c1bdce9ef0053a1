import { t } from '../../language/t.ts';
import type { ListingSummary } from '../../ranking/ranked-list.ts';
import type { Tag } from '../../servers/tag-list.ts';
import type { Site } from '../shared/decorate-site.ts';
import { html } from '../shared/html.ts';
import type { Page } from '../shared/layout.ts';
import { gameTiles, listHead, tagTiles } from './list-heads.ts';
import { nothingListed } from './list-parts.ts';

const SEARCH = { q: '', filters: {} };

/** `/games`: all games that have servers. */
export function gamesPage(site: Site, { games }: ListingSummary): Page {
  const detail = t('All games with listed servers, those with the most first.');
  return {
    title: t('Games'),
    width: 'full',
    styles: ['public.css'],
    ...(games.length > 0 ? { metadata: { canonical: '/games', description: detail } } : {}),
    body: html`${listHead(site, SEARCH, { heading: t('Games'), detail })}
      <section class="game-tiles all" aria-label="${t('Games')}">${
        games.length > 0 ? gameTiles(site, games) : nothingListed(site)
      }</section>`,
  };
}

/** `/tags`: all tags that have servers. */
export function tagsPage(site: Site, { tags: choices = [] }: ListingSummary, tags: Tag[]): Page {
  const detail = t('What kind of server do you look for? Owners chose these tags for their servers.');
  const named = choices.flatMap(({ value, servers }) => {
    const tag = tags.find(({ key }) => key === value);
    return tag ? [{ ...tag, servers }] : [];
  });
  return {
    title: t('Tags'),
    width: 'full',
    styles: ['public.css'],
    ...(named.length > 0 ? { metadata: { canonical: '/tags', description: detail } } : {}),
    body: html`${listHead(site, SEARCH, { heading: t('Tags'), detail })}
      <section class="game-tiles all" aria-label="${t('Tags')}">${
        named.length > 0 ? tagTiles(site, named) : nothingListed(site)
      }</section>`,
  };
}
