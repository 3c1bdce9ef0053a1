import { localTime } from '../../shared/format.ts';
import { type Content, type Html, html } from '../../shared/html.ts';
import { notice, type Tone } from '../../shared/parts.ts';

/** The id of the form for the selected items. The check boxes outside of the form refer to it. */
const MANY = 'decide-many';

/** The keyboard keys for decisions: `a` accepts an item, `x` refuses it. */
export type Key = 'a' | 'x';

/** Marks a button, so that scripts/inbox.js clicks it when the operator presses `key`. */
export function keyed(key: Key, control: Content): Html {
  return html`<div data-press="${key}">${control}</div>`;
}

/** One item of the inbox, with a check box if `select` is set. */
export function inboxItem(item: {
  id: string;
  /** The value that the check box sends with `manyForm`, and its name for screen readers. */
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

/** The form for the selected items. `buttons` are made with `manyButton`; `hidden` are the values of hidden fields. */
export function manyForm(form: { to: string; hidden?: Record<string, string>; buttons: Content }): Html {
  const { to, hidden = {}, buttons } = form;
  // If a user presses Enter in a check box: browsers click the first button of its form. So the first one is disabled.
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

/** A button of `manyForm`. It sends `value` as the decision. It is `quiet`: the main buttons are those of items. */
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

/** The line that explains the keys. scripts/inbox.js shows it, and remembers whether the keys are on. */
export function keysHint(texts: { a?: string; x?: string }): Html {
  const key = (name: string, text: string | undefined) =>
    text ? html`<span><kbd>${name}</kbd> ${text}</span>` : '';
  return html`<p class="keys soft small" hidden data-keys>
    ${key('j', 'next')} ${key('k', 'previous')} ${texts.a || texts.x ? key('Space', 'select') : ''}
    ${key('a', texts.a)} ${key('x', texts.x)}
    <label><input type="checkbox" checked data-keys-on /> Use keys</label>
  </p>`;
}

/** A notice with the result of a decision. `actions` undo the decision. After a key press, `text` is also read out. */
export function resultNotice(tone: Tone, text: Content, actions: Content = ''): Html {
  return notice(tone, html`<div class="actions"><span data-result>${text}</span>${actions}</div>`);
}

/** The time at which the page was made. Items that came later are not part of the operator's decisions. */
export function asOf(now: Date, path: string): Html {
  return html`<p class="soft small">As of ${localTime(now)}. <a href="${path}">Refresh</a></p>`;
}
