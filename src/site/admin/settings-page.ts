import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { inEnglish } from '../../language/t.ts';
import { EarlierProcessesError, refuseEarlierProcesses } from '../../platform/earlier-processes.ts';
import { changeSettings, readStoredSettings, undoSettings } from '../../settings/change-settings.ts';
import { CHANGEABLE, type ChangeableName, type SettingGroup } from '../../settings/changeable.ts';
import type { StoredSettings } from '../../settings/stored-settings.ts';
import { userOf } from '../guard-routes.ts';
import { OPERATOR } from '../route-options.ts';
import { fieldText, type Typed, UNTOUCHED } from '../shared/form.ts';
import { formRoute } from '../shared/form-route.ts';
import { time } from '../shared/format.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { type Page, sendPage } from '../shared/layout.ts';
import { button, card, notice } from '../shared/parts.ts';
import { adminFrame, adminPath } from './admin-frame.ts';
import type { AdminParts } from './admin-parts.ts';
import { colourPreview, GROUP_TITLES, settingField, textOfField } from './setting-fields.ts';

const MESSAGES = inEnglish({
  saved: 'Saved. Every process uses it within 5 seconds.',
  unchanged: 'Nothing was changed.',
  undone: 'The last change is undone. Every process uses it within 5 seconds.',
});

const GROUPS = Object.keys(CHANGEABLE) as SettingGroup[];

/** `/operator/settings`: the settings that operators change while processes run. */
export function settingsPage(app: FastifyInstance, { deps }: AdminParts): void {
  const { base } = app.site;
  const path = adminPath(base, '/settings');

  /** `typed` belongs to the form of `group`; the other forms show what is stored. */
  const page = async (group?: SettingGroup, typed: Typed = UNTOUCHED, preview?: Html): Promise<Page> => {
    const [stored, warning] = await Promise.all([readStoredSettings(deps), earlierProcesses()]);
    const cards = GROUPS.map((one) => {
      const fields = CHANGEABLE[one].map((name) =>
        settingField(deps.config, stored, name, one === group ? typed : UNTOUCHED),
      );
      const isPreviewed = one === 'look';
      return card({
        id: one,
        title: GROUP_TITLES[one],
        body: html`<form method="post" action="${path}/${one}" class="stack">${fields}
          <div class="actions"><button type="submit">Save</button>
            ${isPreviewed ? html`<button class="quiet" type="submit" formaction="${path}/look/preview">Preview</button>` : ''}
          </div></form>${isPreviewed ? preview : ''}`,
      });
    });
    const body = html`${warning}${introduction(path, stored)}${cards}`;
    return { title: 'Settings', messages: MESSAGES, body: adminFrame({ base, part: '/settings', body }) };
  };

  async function earlierProcesses(): Promise<Content> {
    try {
      await refuseEarlierProcesses(deps.mongo);
      return '';
    } catch (error) {
      if (!(error instanceof EarlierProcessesError)) throw error;
      if (error.code !== 'earlier-processes') return '';
      return notice(
        'attention',
        'Processes of an earlier version run. They use the values of the environment until they are upgraded.',
      );
    }
  }

  app.get('/settings', OPERATOR, async (request, reply) => sendPage(request, reply, await page()));

  for (const group of GROUPS) {
    const schema = z.object(
      Object.fromEntries(CHANGEABLE[group].map((name) => [name, fieldText.optional()])),
    );
    formRoute(app, {
      path: `/settings/${group}`,
      access: OPERATOR,
      schema,
      show: (_request, typed) => page(group, typed),
      run: async ({ request, data }) => {
        const changed = await changeSettings(deps, changesOf(group, data), userOf(request).email);
        return `${path}?done=${Object.keys(changed).length > 0 ? 'saved' : 'unchanged'}#${group}`;
      },
    });
  }

  formRoute(app, {
    path: '/settings/look/preview',
    access: OPERATOR,
    schema: z.object({ ACCENT_COLOUR: fieldText }),
    show: (_request: FastifyRequest, typed) => page('look', typed),
    run: ({ data, values }) => ({
      page: page('look', { values, errors: {} }, colourPreview(data.ACCENT_COLOUR)),
    }),
  });

  formRoute(app, {
    path: '/settings/undo',
    access: OPERATOR,
    schema: z.object({ revision: z.coerce.number().int() }),
    show: (_request, _typed) => page(),
    run: async ({ request, data }) => {
      const changed = await undoSettings(deps, data.revision, userOf(request).email);
      return `${path}?done=${Object.keys(changed).length > 0 ? 'undone' : 'unchanged'}`;
    },
  });

  /** The changes of a form. Settings of the environment have no field, so they are left out. */
  function changesOf(group: SettingGroup, data: Record<string, string | undefined>) {
    const names: readonly ChangeableName[] = CHANGEABLE[group];
    return Object.fromEntries(
      names
        .filter((name) => !deps.config.given.has(name))
        .map((name) => [name, textOfField(name, data[name] ?? '')]),
    );
  }
}

function introduction(path: string, stored: StoredSettings | null): Html {
  const last = stored
    ? html`<div class="actions"><span>Last change: ${time(stored.at)}, by <bdi>${stored.by}</bdi>.</span>
        ${button({ to: `${path}/undo`, text: 'Undo the last change', hidden: { revision: String(stored.revision) } })}</div>`
    : '';
  return html`<div class="spaced"><p class="soft">Changes need no restart. An empty field means the default. A variable of the
    environment wins, and its setting is fixed here. The audit log has each change.</p>${last}</div>`;
}
