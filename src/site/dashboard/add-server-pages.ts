import type { FastifyInstance } from 'fastify';
import { t } from '../../language/t.ts';
import { findDraft, MOST_DRAFTS, saveDraft, TooManyDraftsError } from '../../servers/drafts.ts';
import { proveDraftNow } from '../../workflows/answer-now.ts';
import { PageError } from '../error-pages.ts';
import { userOf } from '../guard-routes.ts';
import { SIGNED_IN } from '../route-options.ts';
import { type Typed, UNTOUCHED } from '../shared/form.ts';
import { formRoute, refused } from '../shared/form-route.ts';
import { html } from '../shared/html.ts';
import { type Page, sendPage } from '../shared/layout.ts';
import type { DashboardParts } from './dashboard-parts.ts';
import { afterProving, draftPage, draftPath, noDraft } from './draft-pages.ts';
import { hiddenId } from './hidden-ids.ts';
import {
  addressFields,
  gameFields,
  namingContact,
  secondFields,
  serverForm,
  serverNameField,
  valuesOf,
} from './server-fields.ts';

/** `/dashboard/servers/new`: the form to add a server, or to edit a draft (`?draft=<id>`). */
export function addServerPages(app: FastifyInstance, { deps }: DashboardParts): void {
  const { base } = app.site;

  app.get('/servers/new', SIGNED_IN, async (request, reply) => {
    const { draft } = request.query as { draft?: unknown };
    if (draft === undefined) return sendPage(request, reply, newServerPage(base, UNTOUCHED));
    const draftId = hiddenId.safeParse(draft).data;
    const found = draftId && (await findDraft(deps, userOf(request)._id, draftId));
    if (!found) throw new PageError(404, t('You have no draft with this id.'));
    return sendPage(request, reply, newServerPage(base, valuesOf(found), draftId.toHexString()));
  });

  formRoute(app, {
    path: '/servers/new',
    access: SIGNED_IN,
    schema: serverForm.extend({ draft: hiddenId.optional() }),
    show: (_request, typed) => newServerPage(base, typed, typed.values.draft),
    refusalOf: (error) =>
      error instanceof TooManyDraftsError
        ? refused(
            400,
            t('You have {most} unverified servers. Verify or discard one of them first.', {
              most: MOST_DRAFTS,
            }),
          )
        : namingContact(app.site, error),
    run: async ({ user, data: { draft: draftId, ...settings } }) => {
      const draft = await saveDraft(deps, user._id, settings, draftId);
      if (!draft) return noDraft();
      // Check the ownership at once: if the owner corrected the draft, the code may already be in place.
      const proving = proveDraftNow(deps, user, draft._id);
      const answer = await afterProving(app.site, proving, draftPath(base, draft._id));
      if (typeof answer === 'string') return answer;
      return { ...answer, on: draftPage(base, draft, deps.clock.now()) };
    },
  });
}

function newServerPage(base: string, typed: Typed, draft?: string): Page {
  const title = draft ? t('Edit the server') : t('Add a server');
  const intro = t(
    'We check the server right away and show you its answer. It is listed after you verify ownership with a code in its message (MOTD) or a DNS record.',
  );
  return {
    title,
    width: 'narrow',
    body: html`<div class="page-head"><div>
        <p class="small"><a href="${base}/dashboard">${t('Your servers')}</a></p>
        <h1>${title}</h1>
      </div></div>
      <p class="soft">${intro}</p>
      <form method="post" action="${base}/dashboard/servers/new" class="card stack">
        ${draft ? html`<input type="hidden" name="draft" value="${draft}" />` : ''}
        ${serverNameField(typed)} ${addressFields(typed)} ${gameFields(typed)}
        ${secondFields(typed, null)}
        <button type="submit">${draft ? t('Save and check') : t('Check the server')}</button>
      </form>`,
  };
}
