import { html } from 'hono/html';
import { QUEUE_NAMES, QUEUES, type QueueName } from '../../platform/queues.ts';
import type { WaitingWork } from '../../process/waiting-work.ts';
import type { Html } from '../html.ts';
import { dataTable, facts } from '../parts.ts';
import { count } from '../words.ts';

/** Where the votes are that have not arrived yet. */
export function openVotes({ openVotes: { active, unreachable, paused } }: WaitingWork): Html {
  if (active === undefined) return html`<p class="soft">Cannot be counted at the moment.</p>`;
  return facts([
    ['To listeners that answer', count(active)],
    ['Held for listeners that cannot be reached', count(unreachable ?? 0)],
    ['Held for paused listeners', count(paused ?? 0)],
  ]);
}

/** How many jobs each queue has. */
export function queueTable({ jobs }: WaitingWork): Html {
  if (jobs.length === 0) return html`<p class="soft">Cannot be counted at the moment.</p>`;
  const jobsIn = (queue: string, state: string) =>
    count(jobs.find((job) => job.queue === queue && job.state === state)?.count ?? 0);
  return dataTable<QueueName>({
    caption: 'Jobs in each queue, by state',
    columns: [
      { title: 'Queue', heads: true, cell: (name) => QUEUES[name].title },
      ...['Active', 'Waiting', 'Delayed', 'Failed'].map((title) => ({
        title,
        kind: 'number' as const,
        cell: (name: QueueName) => jobsIn(name, title.toLowerCase()),
      })),
    ],
    rows: QUEUE_NAMES,
    empty: '',
  });
}
