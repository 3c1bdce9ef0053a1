import type { FastifyInstance } from 'fastify';
import { html } from 'hono/html';
import { personOf } from '../access.ts';
import { sendPage } from '../layout.ts';
import { PAGE } from '../page-route.ts';
import { dataTable } from '../parts.ts';
import { count } from '../words.ts';
import type { DashboardSources } from './dashboard.ts';
import { statusBadge } from './server-frame.ts';

/** `/dashboard`: the servers of whoever is signed in. */
export function serverList(app: FastifyInstance, { platform }: DashboardSources): void {
  const { base } = app.site;
  app.get('/', { ...PAGE, config: { access: 'person' } }, async (request, reply) => {
    const ownerId = personOf(request)._id;
    const servers = await platform.servers.find({ ownerId, removedAt: null }).sort({ name: 1 }).toArray();
    return sendPage(request, reply, {
      title: 'Your servers',
      body: html`<div class="page-head">
          <h1>Your servers</h1>
          <a class="button" href="${base}/dashboard/servers/new">Add a server</a>
        </div>
        <section class="card">
          ${dataTable({
            caption: 'Your servers',
            rows: servers,
            columns: [
              {
                title: 'Server',
                heads: true,
                cell: (server) =>
                  html`<a href="${base}/dashboard/servers/${server._id.toHexString()}">${server.name}</a>`,
              },
              { title: 'Status', cell: (server) => statusBadge(server, platform.clock.now()) },
              { title: 'Rank', kind: 'number', cell: ({ rankPosition }) => count(rankPosition) },
              {
                title: 'Votes in 30 days',
                kind: 'number',
                cell: ({ ranked }) => count(ranked?.votesCount ?? 0),
              },
            ],
            empty: 'You have no server here yet. Add one: it takes two minutes.',
          })}
        </section>`,
    });
  });
}
