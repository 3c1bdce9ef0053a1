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
import { formRoute, refused } from '../../shared/form-route.ts';
import { count, timeAgo } from '../../shared/format.ts';
import { type Content, html } from '../../shared/html.ts';
import { button, confirmed } from '../../shared/parts.ts';
import { adminPath } from '../admin-frame.ts';
import { backToList, type Inbox, type InboxItem, type InboxView, type KindOfItem } from './inbox.ts';
import { keyed, queuesCard, resultNotice } from './inbox-parts.ts';

const TIMEOUT_MS = 2 * SECOND;

/** Each queue with failed jobs is one item; the newest failure is first. */
export function jobsKind(inbox: Inbox): KindOfItem {
  const { deps, base, numbers } = inbox;
  decisions(inbox);
  return {
    result: async (query) => resultOf(query),
    read: async (view) => {
      const isUp = (await unavailableQueues(deps, TIMEOUT_MS)).length === 0;
      const rows = isUp ? await failedJobs(deps) : [];
      return { items: rows.map((row) => jobsItem(base, view, row)), ...(isUp ? {} : { about: UNKNOWN }) };
    },
    empty: 'No job has failed.',
    below: async () => queuesCard(base, (await numbers.read()).work),
  };
}

const UNKNOWN = 'Redis does not answer, so failed jobs are not known.';

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
    run: async ({ request, by, data: { decision, queue, seen } }) => {
      // Commands would wait in memory and run much later.
      const unavailable = await unavailableQueues(deps, TIMEOUT_MS);
      if (unavailable.length > 0) return refused(503, `${describeUnavailable(unavailable)}.`);
      const details = { button: `${decision}/failed`, queueName: queue };
      await recordAudit(deps, { by, action: 'queue.button', serverId: null, details });
      const act = decision === 'retry' ? retryFailed : removeFailed;
      await act(deps, queue, new Date(seen));
      return backToList(request, base, 'jobs', { done: decision, queue });
    },
  });
}

function resultOf({ done, queue: named }: Record<string, string>): Content {
  const queue = QUEUE_NAMES.find((one) => one === named);
  if (!queue || (done !== 'retry' && done !== 'remove')) return '';
  const what = done === 'retry' ? 'The failed jobs run again' : 'The failed jobs are removed';
  return resultNotice('good', `${what}: ${QUEUES[queue].title}. Jobs that failed since are still listed.`);
}

function jobsItem(base: string, view: InboxView, { queue, failed, newest }: FailedJobs): InboxItem {
  const { title } = QUEUES[queue];
  const of = `the failed jobs of ${title}`;
  const jobs = `${count(failed)} ${failed === 1 ? 'job' : 'jobs'}`;
  const act = (decision: 'retry' | 'remove', text: string, kind: 'primary' | 'danger') =>
    button({
      to: view.to('/jobs'),
      text,
      hidden: { decision, queue, seen: newest.at.toISOString() },
      kind,
      of,
    });
  return {
    kind: 'jobs',
    id: queue,
    at: newest.at,
    what: `${jobs} failed`,
    where: title,
    title: `${title}: ${jobs}`,
    since: html`Failed, the newest ${timeAgo(newest.at, view.now)}`,
    body: html`<pre class="block">${newest.reason}</pre>
      <p class="soft small">This is an error of ours. A later job does the work of a failed one.</p>`,
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
      <a href="${adminPath(base, `/queues/queue/${queue}?status=failed`)}">Open queue<span
        class="for-readers"> ${title}</span></a>`,
  };
}
