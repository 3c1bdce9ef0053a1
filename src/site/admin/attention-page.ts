import type { FastifyInstance } from 'fastify';
import { t } from '../../language/t.ts';
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
import { OPERATOR } from '../route-options.ts';
import { serverPath } from '../shared/dashboard-paths.ts';
import { queryText } from '../shared/form.ts';
import { count, timeAgo } from '../shared/format.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { sendPage } from '../shared/layout.ts';
import { type Column, card, dataTable, notice } from '../shared/parts.ts';
import { adminFrame, adminPath, adminServerPath } from './admin-frame.ts';
import type { AdminParts } from './admin-parts.ts';
import { quarantineCard } from './quarantine-card.ts';
import { openVotes, queueTable } from './queue-figures.ts';
import { setUpCard } from './set-up-list.ts';
import { minuteOf } from './utc-fields.ts';

const REDIS_DOWN =
  'Redis does not answer. Votes are still accepted and stored in MongoDB. They will be forwarded when Redis is back.';

/** `/operator`: what needs attention, then the amount of work that is waiting. */
export function attentionPage(app: FastifyInstance, { deps }: AdminParts): void {
  const { base } = app.site;
  const waitingWork = createWaitingWork(deps);
  app.get('/', OPERATOR, async (request, reply) => {
    const [attention, work, setUp] = await Promise.all([
      needsAttention(deps),
      waitingWork(),
      setUpCard(deps, app.site),
    ]);
    const now = deps.clock.now();
    const kinds = attentionCards({ base, now }, attention, work);
    return sendPage(request, reply, {
      title: 'Admin area',
      body: adminFrame({
        base,
        part: '',
        body: html`${work.redisUp ? '' : notice('attention', REDIS_DOWN)}
          ${work.mongodbUp ? '' : notice('bad', 'MongoDB is slow or does not answer. New votes may be refused.')}
          ${setUp}
          ${kinds.length > 0 ? kinds : notice('good', 'Nothing needs your attention.')}
          ${card({ title: 'Undelivered votes', body: openVotes(work) })}
          ${card({
            title: 'Queues',
            actions: html`<a class="button quiet" href="${adminPath(base, '/queues')}">Open queues</a>`,
            body: queueTable(work),
          })}`,
      }),
    });
  });
}

type View = { base: string; now: Date };

/** The cards of the kinds that have entries. */
function attentionCards(view: View, attention: Attention, work: WaitingWork): Html[] {
  return [
    reviewCard(view, attention.reviews),
    complaintCard(view, attention.complaints),
    quarantineCard(view, attention.quarantines),
    listenerCard(view, 'Paused listeners', 'Paused', attention.paused),
    listenerCard(view, 'Unreachable listeners', 'Unreachable', attention.unreachable),
    unfetchedCard(view, attention.unfetched),
    failedVotesCard(view, attention.failed),
    unusualCard(view, attention.unusualVotes),
    waitingCard(view, attention.waitingVotes),
    differingCard(view, attention.playersDiffer),
    failedJobsCard(view, work),
  ].filter((one) => one !== null);
}

const upTo = (value: number) => (value >= COUNTED ? `${count(COUNTED)} or more` : count(value));

function reviewCard({ base, now }: View, { waiting, since }: Attention['reviews']): Html | null {
  if (waiting === 0) return null;
  const oldest = since ? html`, the oldest from ${timeAgo(since, now)}` : '';
  return card({
    title: 'Reviews',
    actions: html`<a class="button" href="${adminPath(base, '/reviews')}">Open reviews</a>`,
    body: html`<p>${waiting === 1 ? '1 review is waiting' : `${upTo(waiting)} reviews are waiting`}${oldest}.</p>`,
  });
}

function complaintCard({ base }: View, open: number): Html | null {
  if (open === 0) return null;
  return card({
    title: 'Reported servers',
    actions: html`<a class="button" href="${adminPath(base, '/complaints')}">Open reports</a>`,
    body: html`<p>${open === 1 ? '1 report is open' : `${upTo(open)} reports are open`}.</p>`,
  });
}

/** A card with a table of servers. */
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
      ${kind.more ? html`<p class="soft">More servers are affected. Only the first ones are shown.</p>` : ''}`,
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
        ? 'Paused because of a configuration error. Their votes wait until the owner fixes it and resumes the listener.'
        : 'Tested automatically. Their votes wait and are sent when the listener answers.',
    kind,
    link: ({ server }) => adminServerPath(base, server),
    columns: [
      {
        title: 'Reason',
        cell: ({ reason: { cause, words } }) =>
          html`${t(cause)}${words ? html` <span class="soft">Listener’s answer: “<bdi>${words}</bdi>”</span>` : ''}`,
      },
      { title: 'Since', cell: ({ reason }) => timeAgo(reason.since, now) },
      { title: 'Votes waiting', kind: 'number', cell: ({ waiting }) => upTo(waiting) },
    ],
  });
}

function unfetchedCard({ base, now }: View, kind: Attention['unfetched']): Html | null {
  return serverCard({
    title: 'Votes that nobody fetches',
    about:
      'These servers fetch their votes, and have not for 10 minutes although votes wait. Their owners are notified; the votes fail 72 hours after they were cast.',
    kind,
    link: ({ server }) => adminServerPath(base, server),
    columns: [
      { title: 'Last fetched, or set up', cell: ({ since }) => timeAgo(since, now) },
      { title: 'Votes waiting', kind: 'number', cell: ({ waiting }) => upTo(waiting) },
    ],
  });
}

function failedVotesCard({ base, now }: View, kind: Attention['failed']): Html | null {
  return serverCard({
    title: 'Failed votes',
    about:
      'Expired or refused by the listener in the last 24 hours. They still count, and the owner can resend them.',
    kind,
    link: ({ server }) => serverPath(base, server, '/votes'),
    columns: [
      { title: 'Latest', cell: ({ newest }) => timeAgo(newest, now) },
      { title: 'Votes', kind: 'number', cell: ({ votes }) => upTo(votes) },
    ],
  });
}

function unusualCard({ base }: View, kind: Attention['unusualVotes']): Html | null {
  return serverCard({
    title: 'Unusual votes',
    about:
      'These servers received far more votes in 24 hours, with all of their tokens and on the pages, than they have players. Reported players count up to 50.',
    kind,
    link: ({ server, at }) => {
      const since = minuteOf(after(at, -DAY));
      const search = { server: server._id.toHexString(), since };
      return adminPath(base, `/votes${queryText(search)}`);
    },
    columns: [
      { title: 'Most players in 7 days', kind: 'number', cell: ({ players }) => count(players) },
      { title: 'Votes', kind: 'number', cell: ({ votes }) => count(votes) },
      { title: 'On pages', kind: 'number', cell: ({ web }) => count(web ?? 0) },
      { title: 'With the busiest token', kind: 'number', cell: ({ ofToken }) => count(ofToken ?? 0) },
      { title: 'Decide', cell: (row) => excludeLinks(base, row) },
    ],
  });
}

/** Links to the form that excludes the server's votes: those cast with its busiest token, or all of them. */
function excludeLinks(base: string, row: Attention['unusualVotes']['rows'][number]): Html {
  const { server, at, tokenId } = row;
  const link = (token: string | undefined, text: string) => {
    const range = { server: server._id.toHexString(), token, since: minuteOf(after(at, -DAY)) };
    return html`<a href="${adminPath(base, `/votes/exclude${queryText(range)}`)}">${text}</a>`;
  };
  return html`${link(undefined, 'All…')} ${tokenId ? link(tokenId.toHexString(), 'Of this token…') : ''}`;
}

function waitingCard({ base }: View, kind: Attention['waitingVotes']): Html | null {
  return serverCard({
    title: 'Votes that wait in the ranking',
    about:
      'A day had far more votes than our checks ever saw players. They were delivered and are in all counts; those above the limit do not count for the rank until you allow them on the server’s page.',
    kind,
    link: ({ server }) => adminServerPath(base, server, '#rank'),
    columns: [
      { title: 'Votes in 30 days', kind: 'number', cell: ({ votesCount }) => count(votesCount) },
      { title: 'Waiting', kind: 'number', cell: ({ waiting }) => count(waiting) },
    ],
  });
}

function differingCard({ base, now }: View, kind: Attention['playersDiffer']): Html | null {
  return serverCard({
    title: 'Player counts differ',
    about: 'The number of players that the server reports differs widely from our own checks.',
    kind,
    link: ({ server }) => adminServerPath(base, server),
    columns: [
      { title: 'Compared', cell: ({ at }) => timeAgo(at, now) },
      { title: 'Reported', kind: 'number', cell: ({ reported }) => count(reported) },
      { title: 'Checked', kind: 'number', cell: ({ probed }) => count(probed) },
    ],
  });
}

function failedJobsCard({ base }: View, { jobs }: WaitingWork): Html | null {
  const rows = jobs.filter((job) => job.state === 'failed' && job.count > 0);
  if (rows.length === 0) return null;
  const path = (queue: QueueName) => adminPath(base, `/queues/queue/${queue}?status=failed`);
  return card({
    title: 'Failed jobs',
    body: html`<p class="soft">
        These are errors of ours. A later job does the work of a failed one; open a job to see its error.
      </p>
      <ul class="plain">
        ${rows.map(({ queue, count: failed }) => {
          const jobs = `${count(failed)} ${failed === 1 ? 'job' : 'jobs'}`;
          return html`<li><a href="${path(queue)}">${QUEUES[queue].title}</a>: ${jobs}</li>`;
        })}
      </ul>`,
  });
}
