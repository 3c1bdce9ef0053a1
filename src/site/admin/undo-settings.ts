import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { readStoredSettings, shownChanges, undoSettings } from '../../settings/change-settings.ts';
import { isGuarded } from '../../settings/changeable.ts';
import type { StoredSettings } from '../../settings/stored-settings.ts';
import { userOf } from '../guard-routes.ts';
import { OPERATOR } from '../route-options.ts';
import { type Typed, UNTOUCHED } from '../shared/form.ts';
import { formRoute } from '../shared/form-route.ts';
import { time } from '../shared/format.ts';
import { type Html, html } from '../shared/html.ts';
import { type Page, sendPage } from '../shared/layout.ts';
import { card, dataTable } from '../shared/parts.ts';
import {
  proofForm,
  reAuthenticationFields,
  SECRET_FIELDS,
  withReAuthentication,
} from '../shared/re-authentication.ts';
import { adminFrame } from './admin-frame.ts';
import type { AdminParts } from './admin-parts.ts';
import { labelOf } from './setting-fields.ts';
import { settingsPath } from './settings-frame.ts';

const revision = z.object({ revision: z.string().regex(/^\d{1,9}$/) });

/** `/operator/settings/undo`: shows the last change of the settings, and undoes it. */
export function undoForms(app: FastifyInstance, parts: AdminParts): void {
  const { base } = app.site;
  const { deps } = parts;

  const page = async (request: FastifyRequest, typed: Typed = UNTOUCHED): Promise<Page> => {
    const stored = await readStoredSettings(deps);
    const body = card({
      title: 'Undo the last change',
      body: stored ? undoBody(request, typed, stored) : html`<p>No setting was changed so far.</p>`,
    });
    return { title: 'Undo a change of settings', ...adminFrame({ base, part: '/settings', body }) };
  };

  function undoBody(request: FastifyRequest, typed: Typed, stored: StoredSettings): Html {
    const path = settingsPath(base, '/undo');
    const proof = needsProof(stored) ? reAuthenticationFields(typed, userOf(request)) : '';
    const rows = Object.entries(shownChanges(stored.texts, stored.before));
    return html`<p>The last change was made ${time(stored.at)} by <bdi>${stored.by}</bdi>.</p>
        ${dataTable({
          caption: 'What the undo changes',
          rows,
          empty: 'The undo changes nothing.',
          columns: [
            { title: 'Setting', heads: true, cell: ([name]) => labelOf(name) },
            { title: 'Now', cell: ([, { before }]) => html`<bdi>${before ?? 'default'}</bdi>` },
            { title: 'After the undo', cell: ([, { after }]) => html`<bdi>${after ?? 'default'}</bdi>` },
          ],
        })}
        <form method="post" action="${path}" class="stack">
          <input type="hidden" name="revision" value="${String(stored.revision)}" />${proof}
          <div class="actions"><button type="submit">Undo</button>
            <a class="button quiet" href="${settingsPath(base)}">Back to the settings</a></div>
        </form>`;
  }

  app.get('/settings/undo', OPERATOR, async (request, reply) =>
    sendPage(request, reply, await page(request)),
  );

  formRoute(app, {
    path: '/settings/undo',
    access: OPERATOR,
    schema: revision.extend({ password: z.string().optional(), code: z.string().optional() }),
    secrets: SECRET_FIELDS,
    show: page,
    run: async ({ request, user, by, data }) => {
      const stored = await readStoredSettings(deps);
      const undo = () => undoSettings(deps, Number(data.revision), by);
      const isLast = stored?.revision === Number(data.revision);
      if (!isLast) return `${settingsPath(base)}?done=unchanged`;
      const proof = needsProof(stored) ? proofForm(user).safeParse(data) : null;
      if (proof && !proof.success) {
        const errors = proof.error.issues.map(({ path, message }) => [String(path[0]), message]);
        return { errors: Object.fromEntries(errors) };
      }
      const done = proof
        ? await withReAuthentication(request, parts, proof.data, undo)
        : { done: await undo() };
      if ('errors' in done) return done;
      return `${settingsPath(base)}?done=${Object.keys(done.done).length > 0 ? 'undone' : 'unchanged'}`;
    },
  });
}

/** Whether the last change concerned settings that need re-authentication. */
function needsProof({ texts, before }: StoredSettings): boolean {
  return Object.keys(shownChanges(texts, before)).some(isGuarded);
}
