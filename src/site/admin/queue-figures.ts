import { QUEUE_NAMES, QUEUES, type QueueName } from '../../platform/queues.ts';
import type { WaitingWork } from '../../process/waiting-work.ts';
import { count } from '../shared/format.ts';
import { type Html, html } from '../shared/html.ts';
import { dataTable, facts } from '../shared/parts.ts';

/** The undelivered votes by the state of their listener. */
export function openVotes({ openVotes: { active, unreachable, paused } }: WaitingWork): Html {
  if (active === undefined) return html`<p class="soft">Not available at the moment.</p>`;
  return facts([
    ['For active listeners', count(active)],
    ['For unreachable listeners', count(unreachable ?? 0)],
    ['For paused listeners', count(paused ?? 0)],
  ]);
}

export function queueTable({ jobs }: WaitingWork): Html {
  if (jobs.length === 0) return html`<p class="soft">Not available at the moment.</p>`;
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
