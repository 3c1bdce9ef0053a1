import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Config } from '../../platform/config.ts';
import { LONGEST_PAGE } from '../../platform/stored-values.ts';
import { changeSettings, readStoredSettings } from '../../settings/change-settings.ts';
import { GROUPS } from '../../settings/changeable.ts';
import { OPERATOR } from '../route-options.ts';
import { fieldText, type Typed, UNTOUCHED } from '../shared/form.ts';
import { formRoute } from '../shared/form-route.ts';
import { count } from '../shared/format.ts';
import { type Content, type Html, html, raw } from '../shared/html.ts';
import { type Page, sendPage } from '../shared/layout.ts';
import { badge, card, dataTable, textArea } from '../shared/parts.ts';
import { PAGE_SETTINGS, pageOf, SITE_PAGES, type SitePageName } from '../site-pages.ts';
import { adminFrame } from './admin-frame.ts';
import type { AdminParts } from './admin-parts.ts';
import { fixedValue, labelOf } from './setting-fields.ts';
import { conflict, SETTINGS_MESSAGES, settingsPath } from './settings-frame.ts';

const NAMES = Object.keys(SITE_PAGES) as SitePageName[];

/** The body limit in bytes allows characters of three UTF-8 bytes, each byte sent as `%XX`: 9 bytes a character. */
const OPTIONS = { ...OPERATOR, bodyLimit: 10 * LONGEST_PAGE };

/** The card with links to the forms of the operator's own pages. */
export function ownPagesCard(base: string, config: Config): Html {
  const rows = NAMES.map((name) => ({ name, setting: PAGE_SETTINGS[name] }));
  return card({
    id: 'pages',
    title: GROUPS.pages.title,
    body: html`${config.given.has('PAGE_IMPRINT') ? fixedValue(config, 'PAGE_IMPRINT') : ''}${dataTable({
      caption: 'Your own pages',
      rows,
      empty: '',
      columns: [
        { title: 'Page', heads: true, cell: ({ setting }) => labelOf(setting) },
        { title: 'State', cell: ({ setting }) => stateOf(config, setting) },
        {
          title: 'Edit',
          cell: ({ name, setting }) =>
            html`<a href="${settingsPath(base, `/pages/${name}`)}">Edit<span
              class="for-readers"> ${labelOf(setting)}</span></a>`,
        },
      ],
    })}`,
  });
}

function stateOf(config: Config, setting: (typeof PAGE_SETTINGS)[SitePageName]): Html {
  if (config.given.has(setting)) return badge('quiet', 'in SITE_PAGES_DIR');
  const text = config[setting];
  return text === undefined
    ? badge('quiet', 'not written')
    : html`${badge('good', 'written')} ${count(text.length)} characters`;
}

/** `/operator/settings/pages/<name>`: the forms of the operator's own pages, with previews. */
export function ownPagesForms(app: FastifyInstance, { deps }: AdminParts): void {
  const { base } = app.site;
  const schema = z.object({ revision: z.string().regex(/^\d{1,9}$/), text: fieldText });

  for (const name of NAMES) {
    const setting = PAGE_SETTINGS[name];
    const path = settingsPath(base, `/pages/${name}`);
    const page = async (typed: Typed = UNTOUCHED, preview: Content = ''): Promise<Page> => {
      const stored = await readStoredSettings(deps);
      const form = html`<form method="post" action="${path}" class="stack">
        <input type="hidden" name="revision" value="${String(stored?.revision ?? 0)}" />
        ${textArea({
          name: 'text',
          label: labelOf(setting),
          hint: `Markdown, up to ${count(LONGEST_PAGE)} characters. HTML is shown as text. Empty: no page of your own.`,
          rows: 20,
          value: typed.values.text ?? stored?.texts[setting] ?? '',
          error: typed.errors[setting] ?? typed.errors.text,
        })}
        <div class="actions"><button type="submit">Save</button>
          <button class="quiet" type="submit" formaction="${path}/preview">Preview</button>
          <a class="button quiet" href="${settingsPath(base)}">Back to the settings</a></div></form>`;
      const body = html`${preview}${card({
        title: `Your own page: ${labelOf(setting)}`,
        body: deps.config.given.has(setting) ? fixedValue(deps.config, setting) : form,
      })}`;
      return {
        title: `Your own page: ${labelOf(setting)}`,
        messages: SETTINGS_MESSAGES,
        ...adminFrame({ base, part: '/settings', body }),
      };
    };
    const show = (_request: FastifyRequest, typed: Typed) => page(typed);

    app.get(`/settings/pages/${name}`, OPERATOR, async (request, reply) =>
      sendPage(request, reply, await page()),
    );
    formRoute(app, {
      path: `/settings/pages/${name}`,
      access: OPTIONS,
      schema,
      fields: { [setting]: 'text' },
      show,
      refusalOf: conflict,
      run: async ({ by, data }) => {
        const text = data.text.trim() === '' ? null : data.text.replaceAll('\r\n', '\n');
        const changes = { [setting]: text };
        const changed = await changeSettings(deps, changes, by, Number(data.revision));
        return `${path}?done=${Object.keys(changed).length > 0 ? 'saved' : 'unchanged'}`;
      },
    });
    formRoute(app, {
      path: `/settings/pages/${name}/preview`,
      access: OPTIONS,
      schema,
      show,
      run: ({ data, values }) => ({ page: page({ values, errors: {} }, previewOf(data.text)) }),
    });
  }
}

function previewOf(text: string): Html {
  return card({
    title: 'Preview, not saved',
    isResult: true,
    body: html`<div class="prose">${raw(pageOf(text).html)}</div>`,
  });
}
