import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { t } from '../../language/t.ts';
import { COMPLAINT_KINDS } from '../../moderation/complaint.ts';
import { COMPLAINTS, complain, LONGEST_COMPLAINT } from '../../moderation/complaints.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import type { Server } from '../../servers/server.ts';
import { ANYONE } from '../route-options.ts';
import { COMPLAINT_TEXTS } from '../shared/complaint-texts.ts';
import { fieldText, queryOf, type Typed, UNTOUCHED } from '../shared/form.ts';
import { fieldsOf } from '../shared/form-fields.ts';
import { formRoute, refused } from '../shared/form-route.ts';
import { count } from '../shared/format.ts';
import { html } from '../shared/html.ts';
import { type Page, sendPage } from '../shared/layout.ts';
import { publicPath } from '../shared/server-paths.ts';
import { followingRenames, serverByCurrentSlug, serverOfForm, slugOfRequest } from './server-of-path.ts';

const complaintForm = z.object({ kind: fieldText, text: fieldText });

/** `/servers/<slug>/report`: a visitor reports a server to the operators, without an account. */
export function complaintPage(app: FastifyInstance, deps: AppDeps): void {
  const { base } = app.site;

  const pageOf = (server: Server, typed: Typed): Page => {
    const fields = fieldsOf(typed);
    const path = `${base}${publicPath(server)}`;
    const readers = t(
      'Only the operators of this listing see your report. They see your account if you are signed in, and not your network address.',
    );
    return {
      title: t('Report {server}', { server: server.name }),
      width: 'narrow',
      body: html`<h1>${t('Report <bdi>{server}</bdi>', { server: server.name })}</h1>
        <p class="soft">${readers}</p>
        <form method="post" action="${path}/report" class="card stack">
          ${fields.select('kind', {
            label: t('What is wrong?'),
            required: true,
            options: [
              ['', t('Choose a reason')],
              ...COMPLAINT_KINDS.map((kind): [string, string] => [kind, t(COMPLAINT_TEXTS[kind])]),
            ],
          })}
          ${fields.area('text', {
            label: t('What should we know?'),
            hint: t('Up to {characters} characters.', { characters: count(LONGEST_COMPLAINT) }),
            rows: 5,
          })}
          <div class="actions">
            <button type="submit">${t('Send report')}</button> <a href="${path}">${t('Back to the server')}</a>
          </div>
        </form>`,
    };
  };

  app.get('/servers/:slug/report', ANYONE, (request, reply) =>
    followingRenames(request, reply, async () => {
      const server = await serverByCurrentSlug(deps, slugOfRequest(request));
      const isSent = queryOf(request).done === 'sent';
      return sendPage(request, reply, isSent ? thanks(base, server) : pageOf(server, UNTOUCHED));
    }),
  );

  formRoute(app, {
    path: '/servers/:slug/report',
    access: ANYONE,
    schema: complaintForm,
    show: async (request, typed) => pageOf(await serverOfForm(deps, request), typed),
    run: async ({ request, data }) => {
      const server = await serverOfForm(deps, request);
      const from = { address: request.ip, userId: request.signedIn?.user._id ?? null };
      const retryAt = await complain(deps, server._id, data, from);
      if (retryAt) return refused(429, t(COMPLAINTS.sentence), retryAt);
      return `${base}${publicPath(server)}/report?done=sent`;
    },
  });
}

/** It has no form, so that nobody sends the report again. */
function thanks(base: string, server: Server): Page {
  return {
    title: t('Report {server}', { server: server.name }),
    width: 'narrow',
    body: html`<h1>${t('Thank you')}</h1>
      <p role="status">${t('The operators of this listing will look at your report.')}</p>
      <p class="actions"><a class="button" href="${base}${publicPath(server)}">${t('Back to the server')}</a></p>`,
  };
}
