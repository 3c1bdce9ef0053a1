import { html } from 'hono/html';
import { QUEUE_NAMES, QUEUES, type QueueName } from '../../queues.ts';
import type { WaitingWork } from '../../waiting-work.ts';
import type { Html } from '../html.ts';
import type { Page } from '../layout.ts';
import { card, dataTable, facts, notice } from '../parts.ts';
import { count } from '../words.ts';

/** The desk itself: how much work waits, and the way to the queues. */
export function homePage(page: { deskPath: string; work: WaitingWork }): Page {
  const { deskPath, work } = page;
  return {
    title: 'Operator desk',
    body: html`<div class="page-head"><h1>Operator desk</h1><a class="button quiet" href="${deskPath}/people">People</a></div>
      ${work.redisUp ? '' : notice('attention', 'Redis does not answer. Votes are accepted and kept in MongoDB; they are forwarded when it is back.')}
      ${work.mongodbUp ? '' : notice('bad', 'MongoDB does not answer: no vote can be cast at the moment.')}
      ${card({ title: 'Votes on their way', body: openVotes(work) })}
      ${card({ title: 'Queues', actions: html`<a class="button" href="${deskPath}/queues">Open the queues</a>`, body: queueTable(work) })}`,
  };
}

function openVotes({ openVotes: { active, unreachable, paused } }: WaitingWork): Html {
  if (active === undefined) return html`<p class="soft">Cannot be counted at the moment.</p>`;
  return facts([
    ['To listeners that answer', count(active)],
    ['Held for listeners that cannot be reached', count(unreachable ?? 0)],
    ['Held for paused listeners', count(paused ?? 0)],
  ]);
}

function queueTable({ jobs }: WaitingWork): Html {
  if (jobs.length === 0) return html`<p class="soft">Cannot be counted at the moment.</p>`;
  const jobsIn = (queue: string, state: string) =>
    count(jobs.find((job) => job.queue === queue && job.state === state)?.count ?? 0);
  return dataTable<QueueName>({
    caption: 'Jobs in each queue, by state',
    columns: [
      { title: 'Queue', heads: true, cell: (name) => QUEUES[name].title },
      ...['active', 'waiting', 'delayed', 'failed'].map((state) => ({
        title: state,
        kind: 'number' as const,
        cell: (name: QueueName) => jobsIn(name, state),
      })),
    ],
    rows: QUEUE_NAMES,
    empty: '',
  });
}
