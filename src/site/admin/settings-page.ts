import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { changeSettings, readStoredSettings, type SettingChanges } from '../../settings/change-settings.ts';
import {
  type ChangeableName,
  GROUPS,
  isSealed,
  type SettingGroup,
  settingsOf,
} from '../../settings/changeable.ts';
import type { StoredSettings } from '../../settings/stored-settings.ts';
import { userOf } from '../guard-routes.ts';
import { OPERATOR } from '../route-options.ts';
import { fieldText, UNTOUCHED } from '../shared/form.ts';
import { type FormAnswer, formRoute } from '../shared/form-route.ts';
import { type Html, html } from '../shared/html.ts';
import { sendPage } from '../shared/layout.ts';
import { card } from '../shared/parts.ts';
import {
  proofForm,
  reAuthenticationFields,
  SECRET_FIELDS,
  withReAuthentication,
} from '../shared/re-authentication.ts';
import type { AdminParts } from './admin-parts.ts';
import { logoCard, logoForms } from './logo-forms.ts';
import { ownPagesCard, ownPagesForms } from './own-pages.ts';
import { setUpCard } from './set-up-list.ts';
import { colourPreview, removalOf, settingField, textOfField } from './setting-fields.ts';
import {
  conflict,
  earlierWarning,
  SECTIONS,
  SETTINGS_MESSAGES,
  type Showing,
  type ShowSettings,
  settingsFrame,
  settingsPath,
} from './settings-frame.ts';
import { settingsTests, testButtons } from './settings-tests.ts';
import { undoForms } from './undo-settings.ts';

const FORMS = SECTIONS.flatMap(({ path, groups }) => groups.map((group) => ({ path, group })));

/** `/operator/settings`: the settings that operators can change while processes run. */
export async function adminSettingsPages(app: FastifyInstance, parts: AdminParts): Promise<void> {
  const { base } = app.site;
  const { deps } = parts;

  const show: ShowSettings = async (request, path, showing = {}) => {
    const [stored, warning, setUp] = await Promise.all([
      readStoredSettings(deps),
      earlierWarning(deps),
      setUpCard(deps, app.site),
    ]);
    const groups = SECTIONS.find((section) => section.path === path)?.groups ?? [];
    const cards = groups.map((group) => groupCard(request, stored, group, showing));
    const more =
      path === '' ? html`${logoCard(app.site, deps.config)}${ownPagesCard(base, deps.config)}` : '';
    const frame = settingsFrame({ base, path, stored, warning, body: html`${setUp}${cards}${more}` });
    return { title: 'Settings', messages: SETTINGS_MESSAGES, ...frame };
  };

  /** The card with a group's form. If this form was sent, it has the entered values; otherwise the stored ones. */
  function groupCard(
    request: FastifyRequest,
    stored: StoredSettings | null,
    group: SettingGroup,
    { group: sent, typed: entered = UNTOUCHED, preview }: Showing,
  ): Html {
    const typed = group === sent ? entered : UNTOUCHED;
    const fields = settingsOf(group).map((name) => settingField({ ...deps, stored }, name, typed));
    const path = settingsPath(base, `/change/${group}`);
    const proof = GROUPS[group].isGuarded ? reAuthenticationFields(typed, userOf(request)) : '';
    const isFixed = settingsOf(group).every((name) => deps.config.given.has(name));
    const previews =
      group === 'look'
        ? html`<button class="quiet" type="submit" formaction="${settingsPath(base, '/preview')}">Preview</button>`
        : '';
    return card({
      id: group,
      title: GROUPS[group].title,
      isResult: group === sent && preview !== undefined,
      body: html`${group === sent && preview ? preview : ''}<form method="post" action="${path}" class="stack">
        <input type="hidden" name="revision" value="${String(stored?.revision ?? 0)}" />${fields}
        ${isFixed ? '' : html`${proof}<div class="actions"><button type="submit">Save</button>${previews}</div>`}
        </form>${testButtons(base, group, deps.config)}`,
    });
  }

  for (const { path } of SECTIONS) {
    app.get(`/settings${path}`, OPERATOR, async (request, reply) =>
      sendPage(request, reply, await show(request, path)),
    );
  }

  for (const { group, path } of FORMS) {
    const isGuarded = GROUPS[group].isGuarded;
    formRoute(app, {
      path: `/settings/change/${group}`,
      access: OPERATOR,
      schema: (request) =>
        isGuarded ? schemaOf(group).extend(proofForm(userOf(request)).shape) : schemaOf(group),
      secrets: [...SECRET_FIELDS, ...settingsOf(group).filter(isSealed)] as never[],
      show: (request, typed) => show(request, path, { group, typed }),
      refusalOf: conflict,
      run: async ({ request, by, data }) => {
        const { password, code, ...fields } = data as Record<string, string | undefined>;
        const save = () => changeSettings(deps, changesOf(group, fields), by, Number(fields.revision));
        const done = isGuarded
          ? await withReAuthentication(request, parts, { password: password ?? '', code }, save)
          : { done: await save() };
        return 'errors' in done ? done : savedAnswer(settingsPath(base, path), group, done.done);
      },
    });
  }

  formRoute(app, {
    path: '/settings/preview',
    access: OPERATOR,
    schema: z.object({ ACCENT_COLOUR: fieldText }),
    show: (request, typed) => show(request, '', { group: 'look', typed }),
    run: ({ request, data, values }) => {
      const typed = { values, errors: {} };
      return {
        page: show(request, '', { group: 'look', typed, preview: colourPreview(data.ACCENT_COLOUR) }),
      };
    },
  });

  settingsTests(app, parts, show);
  undoForms(app, parts);
  ownPagesForms(app, parts);
  await app.register(logoForms, { parts });

  /** The schema of a group's form. A field with an input must be sent: a missing one would be stored as the default. */
  function schemaOf(group: SettingGroup) {
    const names = settingsOf(group);
    const fields = names.map((name) => [name, deps.config.given.has(name) ? fieldText : z.string()]);
    const removals = names.filter(isSealed).map((name) => [removalOf(name), fieldText]);
    return z.object({
      revision: z.string().regex(/^\d{1,9}$/),
      ...Object.fromEntries([...fields, ...removals]),
    });
  }

  /** The changes in a form. Settings that environment variables give have no field, so they are left out. */
  function changesOf(group: SettingGroup, fields: Record<string, string | undefined>): SettingChanges {
    const names = settingsOf(group);
    const entries = names
      .filter((name) => !deps.config.given.has(name))
      .map((name) => [name, changeOf(name, fields)])
      .filter(([, text]) => text !== undefined);
    return Object.fromEntries(entries);
  }
}

/** The text to store for a setting; null to store the default; undefined if it is a secret that stays unchanged. */
function changeOf(
  name: ChangeableName,
  fields: Record<string, string | undefined>,
): string | null | undefined {
  const text = textOfField(name, fields[name] ?? '');
  if (!isSealed(name) || text !== null) return text;
  return fields[removalOf(name)] === 'yes' ? null : undefined;
}

function savedAnswer(path: string, at: string, changed: object): FormAnswer {
  return `${path}?done=${Object.keys(changed).length > 0 ? 'saved' : 'unchanged'}#${at}`;
}
