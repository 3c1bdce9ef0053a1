import type { FastifyInstance } from 'fastify';
import { t } from '../../language/t.ts';
import { findDraft, MOST_DRAFTS, saveDraft, TooManyDraftsError } from '../../servers/drafts.ts';
import { proveDraftNow } from '../../workflows/answer-now.ts';
import { userOf } from '../access.ts';
import { PageError } from '../error-pages.ts';
import { SIGNED_IN } from '../page-route.ts';
import { errorsOf, readForm, type Typed, UNTOUCHED, withError } from '../shared/form.ts';
import { html } from '../shared/html.ts';
import { type Page, sendPage } from '../shared/layout.ts';
import { notice } from '../shared/parts.ts';
import type { DashboardParts } from './dashboard-parts.ts';
import { afterProving, idOf } from './draft-pages.ts';
import {
  addressFields,
  gameFields,
  nameField,
  namingContact,
  serverForm,
  valuesOf,
} from './server-fields.ts';

/** `/dashboard/servers/new`: the form for a new server, or for editing a draft (`?draft=<id>`). */
export function addServerPages(app: FastifyInstance, { deps }: DashboardParts): void {
  const { base } = app.site;
  const page = (typed: Typed, draft?: string) => newServerPage(base, typed, draft);

  app.get('/servers/new', SIGNED_IN, async (request, reply) => {
    const { draft } = request.query as { draft?: unknown };
    if (draft === undefined) return sendPage(request, reply, page(UNTOUCHED));
    const draftId = idOf(draft);
    const found = draftId && (await findDraft(deps, userOf(request)._id, draftId));
    if (!found) throw new PageError(404, t('You have no draft with this id.'));
    return sendPage(request, reply, page(valuesOf(found), draftId.toHexString()));
  });

  app.post('/servers/new', SIGNED_IN, async (request, reply) => {
    const user = userOf(request);
    const { data, typed } = readForm(serverForm, request);
    const given = typed.values.draft;
    const draftId = given ? idOf(given) : undefined;
    const refuse = (shown: Typed) => sendPage(request, reply, page(shown, draftId?.toHexString()), 400);
    if (!data || draftId === null) return refuse(withError(typed, t('The form was incomplete. Try again.')));
    try {
      const draft = await saveDraft(deps, user._id, data, draftId);
      if (!draft) throw new PageError(404, t('You have no draft with this id.'));
      // After a correction, the code may already be in place.
      const proved = proveDraftNow(deps, user, draft._id);
      const path = `${base}/dashboard/drafts/${draft._id.toHexString()}`;
      return await afterProving(reply, base, proved, path);
    } catch (error) {
      if (error instanceof TooManyDraftsError) {
        const sentence = t('You have {most} unverified servers. Verify or discard one of them first.', {
          most: MOST_DRAFTS,
        });
        return refuse(withError(typed, sentence));
      }
      if (error instanceof PageError) throw error;
      return refuse(namingContact(app.site, errorsOf(error, typed.values)));
    }
  });
}

function newServerPage(base: string, typed: Typed, draft?: string): Page {
  const title = draft ? t('Edit the server') : t('Add a server');
  return {
    title,
    width: 'narrow',
    body: html`<div class="page-head"><div>
        <p class="small"><a href="${base}/dashboard">${t('Your servers')}</a></p>
        <h1>${title}</h1>
      </div></div>
      <p class="soft">${t('We check the server right away and show you its answer. It is listed after you verify ownership with a code in its message (MOTD) or a DNS record.')}</p>
      ${typed.errors.form ? notice('bad', typed.errors.form) : ''}
      <form method="post" action="${base}/dashboard/servers/new" class="card stack">
        ${draft ? html`<input type="hidden" name="draft" value="${draft}" />` : ''}
        ${nameField(typed)} ${addressFields(typed)} ${gameFields(typed)}
        <button type="submit">${draft ? t('Save and check') : t('Check the server')}</button>
      </form>`,
  };
}
