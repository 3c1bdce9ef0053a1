import { t } from '../../language/t.ts';
import { tryAgain } from '../error-pages.ts';
import { type Html, html, raw } from './html.ts';
import type { Page } from './layout.ts';

/** Links each error to its field. The summary gets the focus, because on a long page the fields are far below. */
export async function withErrorSummary(
  page: Page,
  errors: Record<string, string>,
  retryAt?: Date,
): Promise<Page> {
  const body = String(await html`${page.body}`);
  const fields = fieldsOf(body);
  const entry = ([name, sentence]: [string, string]) => {
    const field = fields.get(name);
    return field
      ? html`<li><a href="#${field.id}">${field.label}: ${sentence}</a></li>`
      : html`<li>${sentence}</li>`;
  };
  const { form, ...others } = errors;
  const entries = [...(form ? [['form', form] as [string, string]] : []), ...Object.entries(others)];
  const summary = html`<div class="notice bad error-summary" role="alert" tabindex="-1" autofocus>
    <h2>${t('There is a problem')}</h2>
    <ul class="plain">${entries.map(entry)}</ul>
    ${retryAt ? tryAgain(retryAt) : ''}
  </div>`;
  return { ...page, body: html`${summary}${raw(body)}` };
}

const INVALID = /<(?:input|select|textarea|fieldset) id="([^"]*)" name="([^"]*)"[^>]*aria-invalid="true"/g;
const LABEL = /<label for="([^"]*)">(.*?)<\/label>/gs;
const LEGEND = /<fieldset id="([^"]*)"[^>]*>\s*<legend>(.*?)<\/legend>/gs;

/** Fields without an error are left out, except groups: several fields may have one name. */
function fieldsOf(body: string): Map<string, { id: string; label: Html }> {
  const labels = new Map(
    [...body.matchAll(LABEL), ...body.matchAll(LEGEND)].map(([, id = '', label = '']) => [id, label]),
  );
  const ids = [
    ...[...body.matchAll(LEGEND)].map(([, id = '']) => ({ id, name: id })),
    ...[...body.matchAll(INVALID)].map(([, id = '', name = '']) => ({ id, name })),
  ];
  return new Map(ids.map(({ id, name }) => [name, { id, label: raw(labels.get(id) ?? '') as Html }]));
}
