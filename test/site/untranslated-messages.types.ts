import { defineMessage, t } from '../../src/language/t.ts';
import { html } from '../../src/site/shared/html.ts';
import type { Page } from '../../src/site/shared/layout.ts';
import {
  badge,
  button,
  card,
  copyable,
  dataTable,
  facts,
  figure,
  notice,
  select,
  tabs,
  textField,
} from '../../src/site/shared/parts.ts';

const SAVE = defineMessage('Save');

/**
 * Places at which the type check must refuse untranslated texts. This function is never called: `tsc` fails if the line
 * under an `@ts-expect-error` compiles.
 */
export function refused(): unknown[] {
  return [
    // @ts-expect-error -- text
    html`<p>${SAVE}</p>`,
    // @ts-expect-error -- an attribute
    html`<p title="${SAVE}"></p>`,
    // @ts-expect-error -- one of several parts
    html`<p>${[html`<b>1</b>`, SAVE]}</p>`,
    // @ts-expect-error -- one of two texts
    html`<p>${Math.random() > 0.5 ? SAVE : t('Save')}</p>`,
    // @ts-expect-error -- within a string
    html`<p>${`${SAVE}.`}</p>`,
    // @ts-expect-error -- the value of another text
    html`<p>${t('Page {page} of {pages}', { page: SAVE, pages: 2 })}</p>`,
    // @ts-expect-error -- a label
    textField({ name: 'name', label: SAVE }),
    // @ts-expect-error -- a hint
    textField({ name: 'name', label: '', hint: SAVE }),
    // @ts-expect-error -- an error
    textField({ name: 'name', label: '', error: SAVE }),
    // @ts-expect-error -- a placeholder
    textField({ name: 'name', label: '', placeholder: SAVE }),
    // @ts-expect-error -- an option
    select({ name: 'name', label: '', options: [['save', SAVE]] }),
    // @ts-expect-error -- a badge
    badge('good', SAVE),
    // @ts-expect-error -- a notice
    notice('good', SAVE),
    // @ts-expect-error -- the title of a card
    card({ title: SAVE, body: '' }),
    // @ts-expect-error -- the name of a value
    facts([[SAVE, 1]]),
    // @ts-expect-error -- the name of a figure
    figure(SAVE, 1),
    // @ts-expect-error -- a button
    button({ to: '/', text: SAVE }),
    // @ts-expect-error -- the label of a text to copy
    copyable('text', SAVE),
    // @ts-expect-error -- the heading of a column
    dataTable({ caption: '', columns: [{ title: SAVE, cell: () => '' }], rows: [], empty: '' }),
    // @ts-expect-error -- the caption of a table
    dataTable({ caption: SAVE, columns: [], rows: [], empty: '' }),
    // @ts-expect-error -- a tab
    tabs('', [{ href: '/', text: SAVE }], '/'),
    // @ts-expect-error -- the title of a page
    { title: SAVE, body: '' } satisfies Page,
    // @ts-expect-error -- a text that the catalogue does not have
    defineMessage('There is no German for this.'),
    // @ts-expect-error -- the same
    t('There is no German for this.'),
  ];
}
