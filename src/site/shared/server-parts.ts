import type { Edition } from '../../games/editions.ts';
import { t } from '../../language/t.ts';
import type { Config } from '../../platform/config.ts';
import type { Server } from '../../servers/server.ts';
import { type VoteFormState, whyOff } from '../../votes/cast/cast-from-page.ts';
import { count } from './format.ts';
import { type Content, type Html, html } from './html.ts';
import { icon } from './icon.ts';
import { bannerLink, type Pictured, serverIcon } from './server-pictures.ts';
import { EDITION_NAMES, shownAddresses } from './server-status.ts';

/** `edition`: where a server has two addresses. */
export function copyAddress(address: string, server: string, edition?: Edition): Html {
  const title = edition && ofEdition(edition);
  return copyButton(address, t('Copy address'), server, title);
}

function ofEdition(edition: Edition): string {
  return t('{label}: {text}', { label: t('Copy address'), text: t(EDITION_NAMES[edition].name) });
}

function copyButton(address: string, text: string, server: string, title?: string): Html {
  const texts = html`data-copy="${address}" data-copied="${t('Copied')}" ${title ? html`title="${title}"` : ''}`;
  return html`<button class="quiet copy" type="button" ${texts}>${icon('copy')}<span>${text}</span><span
    class="for-readers"> ${title ?? ''} ${server}</span></button>`;
}

/** A button for each address. Where there are two, each has the name of its edition. */
export function copyButtons(server: Parameters<typeof shownAddresses>[0] & { name: string }): Html {
  const [first, second] = shownAddresses(server);
  if (!first || !second) return copyAddress(first?.text ?? '', server.name);
  const buttons = [first, second].map(({ edition, text }) => {
    const of = edition ?? 'java';
    return copyButton(text, t(EDITION_NAMES[of].short), server.name, ofEdition(of));
  });
  return html`<span class="copies">${buttons}</span>`;
}

/** Nothing where the vote form is off. */
export function voteLink(
  base: string,
  config: Pick<Config, 'WEB_VOTES'>,
  server: Pick<Server, 'name' | 'slug'> & VoteFormState,
  { now, username = null }: { now: Date; username?: string | null },
): Content {
  if (whyOff(config, server, now)) return '';
  const { name, slug } = server;
  const query = username ? `?${String(new URLSearchParams({ username }))}` : '';
  return html`<a class="button vote" href="${base}/servers/${slug}/vote${query}">${t('Vote')}<span
    class="for-readers"> ${name}</span></a>`;
}

/** The button that copies an address needs a script. Without one, lists show the address itself. */
export function addressToCopy(server: Parameters<typeof copyButtons>[0]): Html {
  const texts = shownAddresses(server).map(({ text }) => html`<code dir="ltr">${text}</code> `);
  return html`${copyButtons(server)}<noscript>${texts}</noscript>`;
}

/** Screen readers skip the bar, because the numbers are beside it. */
export function playersBar(players: number, most: number): Content {
  if (most <= 0) return '';
  const share = Math.min(100, Math.round((100 * players) / most));
  return html`<svg class="bar" aria-hidden="true"><rect class="track" width="100%" height="100%" rx="3"/><rect
    class="fill" width="${String(share)}%" height="100%" rx="3"/></svg>`;
}

/** A medal with tally strokes for the ranks 1 to 3, a number for others and for a server without votes. */
export function rankMark(rank: number, votes: number): Html {
  const strokes =
    votes > 0 &&
    {
      1: ['M16 9.5v13'],
      2: ['M13 9.5v13', 'M19 9.5v13'],
      3: ['M10.5 9.5v13', 'M16 9.5v13', 'M21.5 9.5v13'],
    }[rank];
  const words = html`<span class="for-readers">${t('Rank')} </span>`;
  if (!strokes) return html`<p class="rank">${words}${count(rank)}</p>`;
  return html`<p class="rank m${String(rank)}"><svg viewBox="0 0 32 32" aria-hidden="true"><circle class="disc" cx="16"
    cy="16" r="15"/><circle class="rim" cx="16" cy="16" r="12"/><g class="strokes">${strokes.map(
      (stroke) => html`<path d="${stroke}"/>`,
    )}</g></svg><span class="for-readers">${t('Rank')} ${count(rank)}</span></p>`;
}

export function premiumMark(base: string): Html {
  const title = t('A label by the operator. It does not change the rank.');
  return html`<a class="premium" href="${base}/how-ranking-works#premium" title="${title}">${t('Premium')}</a>`;
}

export function miniServer(
  base: string,
  server: Pictured & { slug: string },
  details: Content[],
  action: Content = '',
): Html {
  const shown = details.filter(Boolean).map((detail) => html`<span>${detail}</span>`);
  return html`<li class="mini">${bannerLink(base, server)}${serverIcon(base, server, 48)}<div class="what">
    <h3><a href="${base}/servers/${server.slug}"><bdi>${server.name}</bdi></a></h3>
    <p class="meta">${shown}</p></div>${action}</li>`;
}
