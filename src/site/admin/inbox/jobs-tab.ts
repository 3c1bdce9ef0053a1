import { z } from 'zod';
import { recordAudit } from '../../../platform/audit/audit-log.ts';
import { SECOND } from '../../../platform/clock.ts';
import { QUEUE_NAMES, QUEUES, type QueueName } from '../../../platform/queues.ts';
import {
  describeUnavailable,
  type FailedJobs,
  failedJobs,
  removeFailed,
  retryFailed,
  unavailableQueues,
} from '../../../process/redis-queues.ts';
import { OPERATOR } from '../../route-options.ts';
import { emptyLine } from '../../shared/empty-card.ts';
import { formRoute, refused } from '../../shared/form-route.ts';
import { count, timeAgo } from '../../shared/format.ts';
import { type Content, type Html, html } from '../../shared/html.ts';
import { button, confirmed } from '../../shared/parts.ts';
import { adminPath } from '../admin-frame.ts';
import { type Inbox, inboxPath, type TabOf } from './inbox.ts';
import { inboxItem, keyed, keysHint, queuesCard, resultNotice } from './inbox-parts.ts';

const TIMEOUT_MS = 2 * SECOND;

/** Each queue with failed jobs is one item; the newest failure is first. */
export function jobsTab(inbox: Inbox): TabOf {
  const { deps, base, numbers } = inbox;
  decisions(inbox);
  return async (_request, query) => {
    const { work } = await numbers.read();
    const isUp = (await unavailableQueues(deps, TIMEOUT_MS)).length === 0;
    const rows = isUp ? await failedJobs(deps) : [];
    const view = { base, now: deps.clock.now() };
    const items = html`<p class="soft">
        These are errors of ours. A later job does the work of a failed one; open a queue to see the errors of its jobs.
      </p>
      ${keysHint({ a: 'run again', x: 'remove' })} ${rows.map((row) => jobsItem(view, row))}`;
    const body = html`${resultOf(query)}
      ${rows.length > 0 ? items : emptyLine(isUp ? 'No job has failed.' : 'Not available at the moment.')}
      ${queuesCard(base, work)}`;
    return { body, ...(isUp ? { shown: rows.length } : {}) };
  };
}

const decisionForm = z.object({
  decision: z.enum(['retry', 'remove']),
  queue: z.enum(QUEUE_NAMES as [QueueName, ...QueueName[]]),
  seen: z.iso.datetime(),
});

function decisions({ app, deps, base }: Inbox): void {
  formRoute(app, {
    path: '/attention/jobs',
    access: OPERATOR,
    schema: decisionForm,
    run: async ({ by, data: { decision, queue, seen } }) => {
      // Commands would wait in memory and run much later.
      const unavailable = await unavailableQueues(deps, TIMEOUT_MS);
      if (unavailable.length > 0) return refused(503, `${describeUnavailable(unavailable)}.`);
      const details = { button: `${decision}/failed`, queueName: queue };
      await recordAudit(deps, { by, action: 'queue.button', serverId: null, details });
      const act = decision === 'retry' ? retryFailed : removeFailed;
      await act(deps, queue, new Date(seen));
      return inboxPath(base, 'jobs', { done: decision, queue });
    },
  });
}

function resultOf({ done, queue: named }: Record<string, string>): Content {
  const queue = QUEUE_NAMES.find((one) => one === named);
  if (!queue || (done !== 'retry' && done !== 'remove')) return '';
  const what = done === 'retry' ? 'The failed jobs run again' : 'The failed jobs are removed';
  return resultNotice('good', `${what}: ${QUEUES[queue].title}. Jobs that failed since are still listed.`);
}

function jobsItem({ base, now }: { base: string; now: Date }, { queue, failed, newest }: FailedJobs): Html {
  const { title } = QUEUES[queue];
  const of = `the failed jobs of ${title}`;
  const act = (decision: 'retry' | 'remove', text: string, kind: 'primary' | 'danger') =>
    button({
      to: adminPath(base, '/attention/jobs'),
      text,
      hidden: { decision, queue, seen: newest.at.toISOString() },
      kind,
      of,
    });
  return inboxItem({
    id: queue,
    title: `${title}: ${count(failed)} ${failed === 1 ? 'job' : 'jobs'}`,
    at: html`newest ${timeAgo(newest.at, now)}`,
    body: html`<pre class="block">${newest.reason}</pre>`,
    actions: html`${keyed('a', act('retry', failed === 1 ? 'Run again' : 'Run all again', 'primary'))}
      ${keyed(
        'x',
        confirmed({
          text: 'Remove…',
          of,
          consequence: 'Their errors and payloads are lost. Nothing else is: votes are in MongoDB.',
          form: act('remove', 'Remove', 'danger'),
        }),
      )}
      <a class="button quiet" href="${adminPath(base, `/queues/queue/${queue}?status=failed`)}">Open queue<span
        class="for-readers"> ${title}</span></a>`,
  });
}
