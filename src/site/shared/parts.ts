import { type Text, t } from '../../language/t.ts';
import { emptyLine } from './empty-card.ts';
import { queryText } from './form.ts';
import { type Content, type Html, html } from './html.ts';

/** It decides the colour. Colour is never the only sign: a text says the same. */
export type Tone = 'good' | 'bad' | 'attention' | 'quiet';

export function badge(tone: Tone, text: string): Html {
  return html`<span class="badge ${tone}">${text}</span>`;
}

/** Screen readers read a `bad` one out at once. */
export function notice(tone: Tone, content: Content): Html {
  return html`<div class="notice ${tone}" role="${tone === 'bad' ? 'alert' : 'status'}">${content}</div>`;
}

export function card(part: {
  title: Content;
  id?: string;
  actions?: Content;
  isResult?: boolean;
  body: Content;
}): Html {
  const { title, id, actions, isResult, body } = part;
  return html`<section class="card" ${id ? html`id="${id}"` : ''} ${isResult ? html`tabindex="-1" autofocus` : ''}>
    <header class="card-head"><h2>${title}</h2>${actions ? html`<div class="actions">${actions}</div>` : ''}</header>
    ${body}
  </section>`;
}

/** For elements of a translated text: `t('See <a>your account</a>.', { a: linkTo('/account') })`. */
export function linkTo(address: string): (text: Html) => Html {
  return (text) => html`<a href="${address}">${text}</a>`;
}

export function forReaders(text: Html): Html {
  return html`<span class="for-readers">${text}</span>`;
}

/** Entries without a value are left out. */
export function facts(entries: [name: Content, value: Content][]): Html {
  return html`<dl class="facts">
    ${entries
      .filter(([, value]) => value === 0 || Boolean(value))
      .map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}
  </dl>`;
}

export function figure(name: string, value: Content, detail?: Content): Html {
  const more = detail ? html`<span class="soft">${detail}</span>` : '';
  return html`<div class="figure">
    <span class="figure-name">${name}</span><span class="figure-value">${value}</span>${more}
  </div>`;
}

export function optionsOf(options: [value: string, text: Text][]): [string, string][] {
  return options.map(([value, text]) => [value, t(text)]);
}

type Field = {
  name: string;
  id?: string;
  label: Content;
  hint?: Content;
  error?: string | undefined;
  required?: boolean;
};

type InputAttributes = Partial<{
  type: string;
  value: string;
  autocomplete: string;
  inputmode: string;
  placeholder: string;
  maxlength: number;
  minlength: number;
  min: number | string;
  max: number | string;
  pattern: string;
  spellcheck: boolean;
  autocapitalize: 'none';
  autocorrect: 'off';
  'data-1p-ignore': true;
  'data-bwignore': true;
  'data-lpignore': 'true';
  autofocus: boolean;
  list: string;
  step: number | 'any';
}>;

/**
 * Browsers silently cut pasted text to `maxlength`. If it were 5, a pasted ` 25565` would become 2556, which is a valid
 * port.
 */
export const PORT_LENGTH = 20;

/** For the public name of a player: browsers and password managers must not fill in what a user signs in with. */
export const PLAYER_NAME = {
  autocomplete: 'nickname',
  // Without these attributes, the keyboard of a phone would change “steve” into “Steve ” or another word.
  autocapitalize: 'none',
  autocorrect: 'off',
  spellcheck: false,
  'data-1p-ignore': true,
  'data-bwignore': true,
  'data-lpignore': 'true',
} as const;

/** By default, browsers fill in nothing, because most fields are not about the user. */
export function textField({ type = 'text', autocomplete = 'off', ...rest }: Field & InputAttributes): Html {
  const { name, id = name, label: _, hint: __, error: ___, required, ...others } = rest;
  const attributes = { autocomplete, ...others };
  return labelled(
    rest,
    html`<input id="${id}" name="${name}" type="${type}" ${shared(rest)} ${required ? 'required' : ''}
      ${Object.entries(attributes).map(([key, value]) => html` ${attribute(key, value)}`)} />`,
  );
}

export function textArea(field: Field & { value?: string; rows?: number; maxlength?: number }): Html {
  const { name, id = name, value = '', rows = 4, maxlength, required } = field;
  return labelled(
    field,
    html`<textarea id="${id}" name="${name}" dir="auto" rows="${rows}" ${attribute('maxlength', maxlength)}
      ${shared(field)} ${required ? 'required' : ''}>${value}</textarea>`,
  );
}

export function select(
  field: Field & { value?: string | undefined; options: [value: string, text: string][]; disabled?: boolean },
): Html {
  const { name, id = name, value, options, required, disabled } = field;
  return labelled(
    field,
    html`<select id="${id}" name="${name}" ${shared(field)} ${required ? 'required' : ''} ${disabled ? 'disabled' : ''}>
      ${options.map(
        ([option, text]) =>
          html`<option value="${option}" ${option === value ? 'selected' : ''}>${text}</option>`,
      )}
    </select>`,
  );
}

/** The form sends `yes` if it is checked, otherwise nothing. */
export function checkbox(field: Field & { checked?: boolean }): Html {
  const { name, id = name, label, hint, error, checked } = field;
  return html`<div class="field check">
    <input id="${id}" name="${name}" type="checkbox" value="yes" ${checked ? 'checked' : ''} ${shared(field)} />
    <label for="${id}">${label}</label>
    ${hint ? html`<p class="hint" id="${id}-hint">${hint}</p>` : ''}
    ${error ? html`<p class="error" id="${id}-error">${error}</p>` : ''}
  </div>`;
}

function labelled(field: Field, control: Html): Html {
  const { name, id = name, label, hint, error } = field;
  return html`<div class="field">
    <label for="${id}">${label}</label>
    ${hint ? html`<p class="hint" id="${id}-hint">${hint}</p>` : ''}
    ${error ? html`<p class="error" id="${id}-error">${error}</p>` : ''}
    ${control}
  </div>`;
}

function shared({ name, id = name, hint, error }: Field): Html {
  const described = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ');
  return html`${error ? html`aria-invalid="true"` : ''} ${described ? html`aria-describedby="${described}"` : ''}`;
}

function attribute(key: string, value: string | number | boolean | undefined): Content {
  // Without `spellcheck="false"`, the browser decides.
  if (value === undefined || (value === false && key !== 'spellcheck')) return '';
  if (value === true && key !== 'spellcheck') return html`${key}`;
  return html`${key}="${String(value)}"`;
}

export function button(action: {
  to: string;
  text: string;
  hidden?: Record<string, string>;
  kind?: 'primary' | 'quiet' | 'danger';
  of?: string;
}): Html {
  const { to, text, hidden = {}, kind = 'quiet', of } = action;
  return html`<form method="post" action="${to}" class="one-button">
    ${Object.entries(hidden).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`)}
    <button class="${kind}" type="submit">${text}${of ? html`<span class="for-readers"> ${of}</span>` : ''}</button>
  </form>`;
}

/** A click shows the consequence and `form`, which has the real button. */
export function confirmed(action: {
  text: string;
  consequence: Content;
  form: Html;
  of?: string;
  isOpen?: boolean;
}): Html {
  const { text, consequence, form, of, isOpen } = action;
  return html`<details class="confirm" ${isOpen ? 'open' : ''}>
    <summary class="button quiet">${text}${of ? html`<span class="for-readers"> ${of}</span>` : ''}</summary>
    <div class="confirm-body"><p>${consequence}</p>${form}</div>
  </details>`;
}

/** The copy button needs a script; selecting the text does not. */
export function copyable(text: string, label: string): Html {
  const copy = t('Copy<span> {label}</span>', { span: forReaders, label });
  return html`<div class="copyable">
    <pre tabindex="0" aria-label="${label}"><code>${text}</code></pre>
    <button class="quiet" type="button"
      data-copy data-copied="${t('Copied')}" data-selected="${t('Selected')}">${copy}</button>
  </div>`;
}

/** `number` is right-aligned; `address` leaves room for long text without spaces. */
export type Column<T> = {
  title: string;
  kind?: 'number' | 'address';
  /** The cells are the headings of their rows. A table has one such column. */
  heads?: boolean;
  /** Only the column by which the rows are sorted has it. */
  sorted?: 'ascending' | 'descending';
  cell: (row: T) => Content;
};

/** On narrow pages, a list of cards. `empty`: a sentence, or an `emptyCard`. */
export function dataTable<T>(table: {
  caption: string;
  columns: Column<T>[];
  rows: T[];
  empty: Content;
}): Html {
  const { caption, columns, rows, empty } = table;
  if (rows.length === 0) return typeof empty === 'string' ? emptyLine(empty) : html`${empty}`;
  const cell = (row: T, { title, kind, heads, cell }: Column<T>) =>
    heads
      ? html`<th scope="row" data-title="${title}"><div>${cell(row)}</div></th>`
      : html`<td${kind ? html` class="${kind}"` : ''} data-title="${title}"><div>${cell(row)}</div></td>`;
  return html`<table class="data">
    <caption class="for-readers">${caption}</caption>
    <thead>
      <tr>${columns.map(
        ({ title, kind, sorted }) =>
          html`<th scope="col" class="${kind ?? ''}" ${attribute('aria-sort', sorted)}>${title}</th>`,
      )}</tr>
    </thead>
    <tbody>
      ${rows.map((row) => html`<tr>${columns.map((column) => cell(row, column))}</tr>`)}
    </tbody>
  </table>`;
}

export function pager(links: {
  newer?: string | undefined;
  older?: string | undefined;
  /** For lists that cannot link to the previous page. */
  first?: string | undefined;
}): Content {
  const { newer, older, first } = links;
  if (!newer && !older && !first) return '';
  return html`<nav class="pager" aria-label="${t('Pages')}">
    ${
      newer
        ? html`<a href="${newer}" rel="prev">${t('← Newer')}</a>`
        : first
          ? html`<a href="${first}">${t('← Back to the start')}</a>`
          : html`<span></span>`
    }
    ${older ? html`<a href="${older}" rel="next">${t('Older →')}</a>` : html`<span></span>`}
  </nav>`;
}

/**
 * For lists whose pages begin at a cursor, the query parameter `from`. `kept`: the other parameters, such as a
 * filter's.
 */
export function cursorPager(
  path: string,
  { from, next }: { from: string | undefined; next: string | null },
  kept: Record<string, string | undefined> = {},
): Content {
  const to = (start?: string) => `${path}${queryText({ ...kept, from: start })}`;
  return pager({ first: from ? to() : undefined, older: next ? to(next) : undefined });
}

export function tabs(label: string, entries: { href: string; text: string }[], current: string): Html {
  return html`<nav class="tabs" aria-label="${label}">
    ${entries.map(
      ({ href, text }) =>
        html`<a href="${href}" ${href === current ? html`aria-current="page"` : ''}>${text}</a>`,
    )}
  </nav>`;
}
