import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Config } from '../../platform/config.ts';
import type { QuestionResult } from '../../platform/worker-answers.ts';
import { changeSettings, readStoredSettings, type SettingChanges } from '../../settings/change-settings.ts';
import {
  type ChangeableName,
  GROUPS,
  isSealed,
  type SettingGroup,
  settingsOf,
} from '../../settings/changeable.ts';
import type { StoredSettings } from '../../settings/stored-settings.ts';
import { answerNow, type MailTest, type OpenIdTest } from '../../workflows/answer-now.ts';
import { userOf } from '../guard-routes.ts';
import { OPERATOR } from '../route-options.ts';
import { fieldText, UNTOUCHED } from '../shared/form.ts';
import { type FormAnswer, formRoute, refused } from '../shared/form-route.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { sendPage } from '../shared/layout.ts';
import { notAnsweredStatus, notAnsweredText } from '../shared/not-answered.ts';
import { button, card, notice } from '../shared/parts.ts';
import {
  proofForm,
  reAuthenticationFields,
  SECRET_FIELDS,
  withReAuthentication,
} from '../shared/re-authentication.ts';
import type { AdminParts } from './admin-frame.ts';
import { logoCard, logoForms } from './logo-forms.ts';
import { ownPagesCard, ownPagesForms } from './own-pages.ts';
import {
  colourPreview,
  conflict,
  earlierWarning,
  removalOf,
  SECTIONS,
  type Showing,
  type ShowSettings,
  settingField,
  settingsFrame,
  settingsPath,
  textOfField,
} from './settings-parts.ts';
import { undoForms } from './undo-settings.ts';

const FORMS = SECTIONS.flatMap(({ path, groups }) => groups.map((group) => ({ path, group })));

export async function adminSettingsPages(app: FastifyInstance, parts: AdminParts): Promise<void> {
  const { base } = app.site;
  const { deps } = parts;

  const show: ShowSettings = async (request, path, showing = {}) => {
    const [stored, warning] = await Promise.all([readStoredSettings(deps), earlierWarning(deps)]);
    const groups = SECTIONS.find((section) => section.path === path)?.groups ?? [];
    const cards = groups.map((group) => groupCard(request, stored, group, showing));
    const more =
      path === '' ? html`${logoCard(app.site, deps.config)}${ownPagesCard(base, deps.config)}` : '';
    return settingsFrame({ base, path, stored, warning, body: html`${cards}${more}` });
  };

  /** If this group's form was sent, the card has the entered values; otherwise the stored ones. */
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

  /** A field with an input must be sent: a missing one would be stored as the default. */
  function schemaOf(group: SettingGroup) {
    const names = settingsOf(group);
    const fields = names.map((name) => [name, deps.config.given.has(name) ? fieldText : z.string()]);
    const removals = names.filter(isSealed).map((name) => [removalOf(name), fieldText]);
    return z.object({
      revision: z.string().regex(/^\d{1,9}$/),
      ...Object.fromEntries([...fields, ...removals]),
    });
  }

  /** Settings that environment variables give have no field. */
  function changesOf(group: SettingGroup, fields: Record<string, string | undefined>): SettingChanges {
    const names = settingsOf(group);
    const entries = names
      .filter((name) => !deps.config.given.has(name))
      .map((name) => [name, changeOf(name, fields)])
      .filter(([, text]) => text !== undefined);
    return Object.fromEntries(entries);
  }
}

/** null stores the default; undefined keeps a secret. */
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

function testButtons(base: string, group: SettingGroup, config: Config): Content {
  if (group === 'mail' && config.SMTP_URL !== undefined)
    return button({ to: settingsPath(base, '/test/mail'), text: 'Send a test mail to my address' });
  if (group === 'openid' && config.OIDC_ISSUER !== undefined)
    return button({ to: settingsPath(base, '/test/openid'), text: 'Check the provider' });
  return '';
}

/** A worker connects to the mail server or provider; the request waits for the result. */
function settingsTests(app: FastifyInstance, { deps }: AdminParts, show: ShowSettings): void {
  const test = <T>(
    group: SettingGroup,
    ask: (userId: string) => Promise<QuestionResult<T>>,
    resultOf: (result: T) => Html,
  ) =>
    formRoute(app, {
      path: `/settings/test/${group}`,
      access: OPERATOR,
      show: (request, typed) => show(request, `/${group}`, { group, typed }),
      run: async ({ request, user }) => {
        const ended = await ask(user._id.toHexString());
        if (ended.kind !== 'answered') return refused(notAnsweredStatus(ended), notAnsweredText(ended));
        return { page: show(request, `/${group}`, { group, preview: resultOf(ended.result) }) };
      },
    });
  test('mail', (userId) => answerNow(deps, 'test-mail', { userId }), mailResult);
  test('openid', () => answerNow(deps, 'test-openid', {}), openIdResult);
}

function mailResult(result: MailTest): Html {
  switch (result.kind) {
    case 'sent':
      return notice('good', 'The mail server accepted the test mail. Look into your mailbox.');
    case 'no-mail-server':
      return notice('attention', 'There is no mail server.');
    case 'no-user':
      return notice('attention', 'Your account no longer exists.');
    default:
      return notice('bad', html`The test mail was not sent: <bdi>${result.reason}</bdi>`);
  }
}

function openIdResult(result: OpenIdTest): Html {
  switch (result.kind) {
    case 'usable':
      return notice('good', 'The provider answers. Whether it knows this client shows at the first sign-in.');
    case 'not-set':
      return notice('attention', 'There is no provider.');
    case 'unusable':
      return notice('bad', html`The provider cannot be used: <bdi>${result.reason}</bdi>`);
  }
}
