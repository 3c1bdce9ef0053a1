import { t } from '../../language/t.ts';
import { type Content, type Html, html } from './html.ts';
import { icon } from './icon.ts';

/** Cards in twelve columns on a desk, in one on a phone. */
export function deck(cards: Content): Html {
  return html`<div class="deck">${cards}</div>`;
}

/** A card of a deck. `columns` is its width in twelfths; `foot` is at its lower edge. */
export function deckCard(part: {
  title: Content;
  columns: 4 | 6 | 8 | 12;
  id?: string;
  /** A link or a legend beside the heading. */
  beside?: Content;
  body: Content;
  foot?: Content;
}): Html {
  const { title, columns, id, beside = '', body, foot } = part;
  return html`<section class="card c${String(columns)}" ${id ? html`id="${id}"` : ''}>
    <header class="card-head"><h2>${title}</h2>${beside}</header>${body}${foot ? html`<footer>${foot}</footer>` : ''}
  </section>`;
}

/** Figures side by side in one line: a name, a value, and a detail below. */
export function figureStrip(figures: { name: string; value: Content; detail?: Content }[]): Html {
  return html`<dl class="strip">${figures.map(
    ({ name, value, detail }) =>
      html`<div><dt>${name}</dt><dd>${value}</dd>${detail ? html`<dd class="detail">${detail}</dd>` : ''}</div>`,
  )}</dl>`;
}

/**
 * A period is compared with the one before only if this has figures in so many first days: otherwise it would only seem
 * to have had few.
 */
export const KNOWN_WITHIN_DAYS = 7;

/**
 * A change against the period before, as an arrow with `text`. `better` says which direction is good; null if neither is.
 * Empty if nothing changed.
 */
export function changeMark(direction: number, text: string, better: 'up' | 'down' | null = 'up'): Content {
  if (direction === 0) return '';
  const isUp = direction > 0;
  const tone = better === null ? '' : isUp === (better === 'up') ? 'good' : 'bad';
  return html`<span class="change ${tone}">${icon(isUp ? 'arrow-up' : 'arrow-down')}<span
    class="for-readers">${isUp ? t('up') : t('down')} </span>${text}</span>`;
}

/** The ranges of a page of figures, as links side by side. `current` is the `href` of the chosen one. */
export function rangeLinks(label: string, ranges: { href: string; text: string }[], current: string): Html {
  return html`<nav class="ranges" aria-label="${label}">${ranges.map(
    ({ href, text }) =>
      html`<a href="${href}" ${href === current ? html`aria-current="true"` : ''}>${text}</a>`,
  )}</nav>`;
}

/** The first line of a page: its heading, with `actions` beside it and a sentence below. */
export function pageHead(head: { title: Content; actions?: Content; text?: Content }): Html {
  const { title, actions, text } = head;
  return html`<header class="work-head"><h1>${title}</h1>${actions ? html`<div class="actions">${actions}</div>` : ''}
    ${text ? html`<p class="soft small">${text}</p>` : ''}</header>`;
}
