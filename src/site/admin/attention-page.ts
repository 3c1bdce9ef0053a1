import type { FastifyInstance } from 'fastify';
import { html } from 'hono/html';
import {
  type Attention,
  COUNTED,
  type Kind,
  needsAttention,
  type StuckListener,
} from '../../moderation/needs-attention.ts';
import { after, DAY } from '../../platform/clock.ts';
import { QUEUES, type QueueName } from '../../platform/queues.ts';
import { createWaitingWork, type WaitingWork } from '../../process/waiting-work.ts';
import { serverPath } from '../dashboard/server-frame.ts';
import { queryText } from '../form.ts';
import type { Content, Html } from '../html.ts';
import { sendPage } from '../layout.ts';
import { OPERATOR } from '../page-route.ts';
import { type Column, card, dataTable, notice } from '../parts.ts';
import { count, counted, timeAgo } from '../words.ts';
import { adminFrame, adminPath, adminServerPath } from './admin-frame.ts';
import type { AdminSources } from './admin-sources.ts';
import { openVotes, queueTable } from './queue-figures.ts';
import { minuteOf } from './utc-fields.ts';

/** `/operator`: what needs attention first, then how much work waits. */
export function attentionPage(app: FastifyInstance, { platform }: AdminSources): void {
  const { base } = app.site;
  const waitingWork = createWaitingWork(platform);
  app.get('/', OPERATOR, async (request, reply) => {
    const [attention, work] = await Promise.all([needsAttention(platform), waitingWork()]);
    const now = platform.clock.now();
    const kinds = attentionCards({ base, now }, attention, work);
    return sendPage(request, reply, {
      title: 'Admin area',
      body: adminFrame({
        base,
        part: '',
        body: html`${work.redisUp ? '' : notice('attention', 'Redis does not answer. Votes are accepted and kept in MongoDB; they are forwarded when it is back.')}
          ${work.mongodbUp ? '' : notice('bad', 'MongoDB is slow or does not answer: votes may be refused at the moment.')}
          ${kinds.length > 0 ? kinds : notice('good', 'Nothing needs your attention.')}
          ${card({ title: 'Votes on their way', body: openVotes(work) })}
          ${card({ title: 'Queues', actions: html`<a class="button quiet" href="${adminPath(base, '/queues')}">Open the queues</a>`, body: queueTable(work) })}`,
      }),
    });
  });
}

type View = { base: string; now: Date };

/** One card for each kind of which there is something. */
function attentionCards(view: View, attention: Attention, work: WaitingWork): Html[] {
  return [
    reviewCard(view, attention.reviews),
    listenerCard(view, 'Paused listeners', 'Paused', attention.paused),
    listenerCard(view, 'Unreachable listeners', 'Unreachable', attention.unreachable),
    failedVotesCard(view, attention.failed),
    unusualCard(view, attention.unusualVotes),
    differingCard(view, attention.playersDiffer),
    failedJobsCard(view, work),
  ].filter((one) => one !== null);
}

const upTo = (value: number) => (value >= COUNTED ? `${count(COUNTED)} or more` : count(value));

function reviewCard({ base, now }: View, { waiting, since }: Attention['reviews']): Html | null {
  if (waiting === 0) return null;
  const oldest = since ? html`, the oldest written ${timeAgo(since, now)}` : '';
  return card({
    title: 'Reviews',
    actions: html`<a class="button" href="${adminPath(base, '/reviews')}">Read them</a>`,
    body: html`<p>${waiting === 1 ? 'One review waits' : `${upTo(waiting)} reviews wait`}${oldest}.</p>`,
  });
}

/** A card with a table whose rows are each about one server. */
function serverCard<T extends { server: { name: string } }>(part: {
  title: string;
  about: Content;
  kind: Kind<T>;
  link: (row: T) => string;
  columns: Column<T>[];
}): Html | null {
  const { title, about, kind, link, columns } = part;
  if (kind.rows.length === 0) return null;
  const server: Column<T> = {
    title: 'Server',
    heads: true,
    cell: (row) => html`<a href="${link(row)}"><bdi>${row.server.name}</bdi></a>`,
  };
  return card({
    title,
    body: html`<p class="soft">${about}</p>
      ${dataTable({ caption: title, rows: kind.rows, columns: [server, ...columns], empty: '' })}
      ${kind.more ? html`<p class="soft">There are more; these come first.</p>` : ''}`,
  });
}

function listenerCard(
  { base, now }: View,
  title: string,
  state: string,
  kind: Kind<StuckListener>,
): Html | null {
  return serverCard({
    title,
    about:
      state === 'Paused'
        ? 'A fault in their settings paused them. Their votes wait until the owner mends it and resumes.'
        : 'They are tested by themselves; their votes wait and are sent when they answer.',
    kind,
    link: ({ server }) => adminServerPath(base, server),
    columns: [
      {
        title: 'Why',
        cell: ({ reason: { cause, words } }) =>
          html`${cause}${words ? html` <span class="soft">It said: “<bdi>${words}</bdi>”</span>` : ''}`,
      },
      { title: 'Since', cell: ({ reason }) => timeAgo(reason.since, now) },
      { title: 'Votes waiting', kind: 'number', cell: ({ waiting }) => upTo(waiting) },
    ],
  });
}

function failedVotesCard({ base, now }: View, kind: Attention['failed']): Html | null {
  return serverCard({
    title: 'Failed votes',
    about:
      'Given up or refused by their listener in the last 24 hours. They count; the owner can resend them.',
    kind,
    link: ({ server }) => serverPath(base, server, '/votes'),
    columns: [
      { title: 'Last one', cell: ({ newest }) => timeAgo(newest, now) },
      { title: 'Votes', kind: 'number', cell: ({ votes }) => upTo(votes) },
    ],
  });
}

function unusualCard({ base }: View, kind: Attention['unusualVotes']): Html | null {
  return serverCard({
    title: 'Unusual votes',
    about:
      'They took far more votes in 24 hours, over all of their tokens, than they have players. What a server reports itself is believed up to 50 players.',
    kind,
    link: ({ server, at }) => {
      const since = minuteOf(after(at, -DAY));
      const search = { server: server._id.toHexString(), since };
      return adminPath(base, `/votes${queryText(search)}`);
    },
    columns: [
      { title: 'Most players in 7 days', kind: 'number', cell: ({ players }) => count(players) },
      { title: 'Votes', kind: 'number', cell: ({ votes }) => count(votes) },
    ],
  });
}

function differingCard({ base, now }: View, kind: Attention['playersDiffer']): Html | null {
  return serverCard({
    title: 'Players reported and found',
    about: 'The server reports far other players than it answers to our own probe.',
    kind,
    link: ({ server }) => adminServerPath(base, server),
    columns: [
      { title: 'Compared', cell: ({ at }) => timeAgo(at, now) },
      { title: 'Reported', kind: 'number', cell: ({ reported }) => count(reported) },
      { title: 'Found', kind: 'number', cell: ({ probed }) => count(probed) },
    ],
  });
}

function failedJobsCard({ base }: View, { jobs }: WaitingWork): Html | null {
  const rows = jobs.filter((job) => job.state === 'failed' && job.count > 0);
  if (rows.length === 0) return null;
  const path = (queue: QueueName) => adminPath(base, `/queues/queue/${queue}?status=failed`);
  return card({
    title: 'Failed jobs',
    body: html`<p class="soft">Faults of ours. What they were to do is done by a later job; the reason stands with each.</p>
      <ul class="plain">
        ${rows.map(({ queue, count: failed }) => html`<li><a href="${path(queue)}">${QUEUES[queue].title}</a>: ${counted(failed, 'job')}</li>`)}
      </ul>`,
  });
}
