import type { FastifyInstance } from 'fastify';
import { inEnglish, t } from '../../language/t.ts';
import { closeComplaint, openComplaints } from '../../moderation/complaints.ts';
import { userOf } from '../guard-routes.ts';
import { OPERATOR } from '../route-options.ts';
import { COMPLAINT_TEXTS } from '../shared/complaint-texts.ts';
import { formRoute } from '../shared/form-route.ts';
import { timeAgo } from '../shared/format.ts';
import { html } from '../shared/html.ts';
import { idParam } from '../shared/id-param.ts';
import { sendPage } from '../shared/layout.ts';
import { button, card, dataTable } from '../shared/parts.ts';
import { adminFrame, adminPath, adminServerPath } from './admin-frame.ts';
import type { AdminParts } from './admin-parts.ts';

/** Complaints per page, the oldest first. Closed complaints leave the list, so it has no further pages. */
const ROWS = 50;

/** `/operator/complaints`: what visitors reported about servers. */
export function complaintPages(app: FastifyInstance, { deps }: AdminParts): void {
  const { base } = app.site;

  app.get('/complaints', OPERATOR, async (request, reply) => {
    const rows = await openComplaints(deps, { limit: ROWS });
    const now = deps.clock.now();
    return sendPage(request, reply, {
      title: 'Reported servers',
      messages: inEnglish({ closed: 'Report closed.', meanwhile: 'This report was closed already.' }),
      body: adminFrame({
        base,
        part: '',
        body: card({
          title: 'Reported servers',
          body: dataTable({
            caption: 'Open reports, oldest first',
            rows,
            columns: [
              {
                title: 'Server',
                heads: true,
                cell: ({ server }) =>
                  server
                    ? html`<a href="${adminServerPath(base, server)}"><bdi>${server.name}</bdi></a>`
                    : 'removed',
              },
              { title: 'Reason', cell: ({ complaint }) => t(COMPLAINT_TEXTS[complaint.kind]) },
              { title: 'Text', cell: ({ complaint }) => html`<bdi>${complaint.text ?? ''}</bdi>` },
              {
                title: 'By',
                cell: ({ complaint: { userId } }) =>
                  userId
                    ? html`<a href="${adminPath(base, `/users/${userId.toHexString()}`)}">a user</a>`
                    : 'a visitor',
              },
              { title: 'Sent', cell: ({ complaint }) => timeAgo(complaint.at, now) },
              {
                title: 'Decide',
                cell: ({ complaint, server }) =>
                  button({
                    to: adminPath(base, `/complaints/${complaint._id.toHexString()}/close`),
                    text: 'Close',
                    of: `the report about ${server?.name ?? 'a removed server'}`,
                  }),
              },
            ],
            empty: 'No open reports.',
          }),
        }),
      }),
    });
  });

  formRoute(app, {
    path: '/complaints/:complaintId/close',
    access: OPERATOR,
    run: async ({ request }) => {
      const closed = await closeComplaint(deps, idParam(request, 'complaintId'), userOf(request).email);
      return `${adminPath(base, '/complaints')}?done=${closed ? 'closed' : 'meanwhile'}`;
    },
  });
}
