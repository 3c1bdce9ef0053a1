import { t } from '../../language/t.ts';
import { count } from './format.ts';
import { type Content, type Html, html } from './html.ts';
import { type IconName, icon } from './icon.ts';

/**
 * What a person must do in a part: `attention` if something waits, `bad` if something is broken, `quiet` if the inbox
 * has it already. A number of things that need nobody is no count.
 */
export type RailCount = { number: number; tone: 'attention' | 'bad' | 'quiet'; meaning: string };

type RailPart = { href: string; text: string; icon: IconName; count?: RailCount | undefined };

type RailGroup = { name: string | undefined; parts: RailPart[] };

/** The parts of an area. On a narrow page: a bar at the top, whose button opens the parts as a sheet. */
export function rail(side: {
  label: string;
  /** Whose parts they are, above the list. */
  whose: Html;
  groups: RailGroup[];
  /** The `href` of the current part. */
  current: string;
}): Html {
  const { label, whose, groups, current } = side;
  const here = groups.flatMap(({ parts }) => parts).find(({ href }) => href === current);
  return html`<aside class="side">${whose}
    ${
      here
        ? html`<button class="quiet parts-open" type="button" popovertarget="parts">${icon(here.icon)}
            <span>${here.text}</span>${icon('chevron-down')}<span class="for-readers"> ${label}</span></button>`
        : ''
    }
    <nav class="rail" id="parts" popover aria-label="${label}">
      <p class="rail-head"><b>${label}</b><button class="quiet" type="button" popovertarget="parts"
        popovertargetaction="hide">${icon('x')}<span class="for-readers">${t('Close')}</span></button></p>
      ${groups.map(
        ({ name, parts }) =>
          html`<section>${name ? html`<p class="group">${name}</p>` : ''}<ul>${parts.map(
            (part) => html`<li>${link(part, part.href === current)}</li>`,
          )}</ul></section>`,
      )}
    </nav></aside>`;
}

function link({ href, text, icon: name, count: todo }: RailPart, isCurrent: boolean): Html {
  return html`<a href="${href}" ${isCurrent ? html`aria-current="page"` : ''}>${icon(name)}
    <span>${text}</span>${countMark(todo)}</a>`;
}

/** The mark of a count; empty if there is nothing to do. */
export function countMark(todo: RailCount | undefined): Content {
  if (!todo?.number) return '';
  const { number, tone, meaning } = todo;
  return html`<span class="count ${tone}">${count(number)}<span class="for-readers"> ${meaning}</span></span>`;
}
