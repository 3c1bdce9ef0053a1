import { localTime } from '../../shared/format.ts';
import { type Content, type Html, html } from '../../shared/html.ts';
import { notice, type Tone } from '../../shared/parts.ts';

/** The id of the form for the selected items. Their check boxes are in the items. */
const MANY = 'decide-many';

/** The keyboard keys for decisions: `a` accepts, `x` refuses. */
export type Key = 'a' | 'x';

/** Marks the control that a key presses (see scripts/inbox.js). */
export function keyed(key: Key, control: Content): Html {
  return html`<div data-press="${key}">${control}</div>`;
}

/** One item of the inbox, with a check box if `select` is set. */
export function inboxItem(item: {
  id: string;
  /** The value that the check box adds to the form for the selected items, and what it selects. */
  select?: { value: string; of: string };
  title: Content;
  badges?: Content;
  at: Content;
  body: Content;
  actions: Content;
}): Html {
  const { id, select, title, badges, at, body, actions } = item;
  const box = select
    ? html`<span class="pick"><input id="pick-${id}"
        type="checkbox" name="item" value="${select.value}" form="${MANY}" />
        <label class="for-readers" for="pick-${id}">Select ${select.of}</label></span>`
    : '';
  return html`<article class="card item" data-item>
    <header class="card-head">
      <div class="item-title">${box}<h2>${title}</h2></div>
      <div class="actions">${badges ?? ''}<span class="soft small">${at}</span></div>
    </header>
    ${body}
    <div class="actions">${actions}</div>
  </article>`;
}

/** The form for the selected items. `buttons` are made by `manyButton`; `hidden` are further fields. */
export function manyForm(form: { to: string; hidden?: Record<string, string>; buttons: Content }): Html {
  const { to, hidden = {}, buttons } = form;
  // If a user presses Enter in a check box: browsers press the first button of its form. So the first one is disabled.
  return html`<form method="post" action="${to}" id="${MANY}" class="card many">
    <button type="submit" hidden disabled></button>
    ${hiddenFields(hidden)}
    <div class="actions">
      <button class="quiet" type="button" hidden data-pick-all>Select all</button>
      <span class="soft" data-picked data-none="Nothing is selected." data-some="{n} selected."></span>
      ${buttons}
    </div>
  </form>`;
}

/**
 * A button of `manyForm`. Its value is the decision. The style is `quiet`, because the main buttons are in the items.
 */
export function manyButton({ value, text, key }: { value: string; text: string; key: Key }): Html {
  return html`<div data-press-many="${key}">
    <button type="submit" name="decision" value="${value}" class="quiet">${text}</button>
  </div>`;
}

export function hiddenFields(fields: Record<string, string>): Html {
  return html`${Object.entries(fields).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`,
  )}`;
}

/** The line that names the keys. The script shows it, and remembers whether the keys are on. */
export function keysHint(texts: { a?: string; x?: string }): Html {
  const key = (name: string, text: string | undefined) =>
    text ? html`<span><kbd>${name}</kbd> ${text}</span>` : '';
  return html`<p class="keys soft small" hidden data-keys>
    ${key('j', 'next')} ${key('k', 'previous')} ${texts.a || texts.x ? key('Space', 'select') : ''}
    ${key('a', texts.a)} ${key('x', texts.x)}
    <label><input type="checkbox" checked data-keys-on /> Use keys</label>
  </p>`;
}

/** The result of a decision. `text` is also read out after a decision by keyboard; `actions` undo it. */
export function resultNotice(tone: Tone, text: Content, actions: Content = ''): Html {
  return notice(tone, html`<div class="actions"><span data-result>${text}</span>${actions}</div>`);
}

/** Shows when the page was made: a decision on it covers only what it shows. */
export function asOf(now: Date, path: string): Html {
  return html`<p class="soft small">As of ${localTime(now)}. <a href="${path}">Refresh</a></p>`;
}
