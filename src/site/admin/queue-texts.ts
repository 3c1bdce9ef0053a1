import { z } from 'zod';
import { DAY } from '../../platform/clock.ts';

/** The progress that workers write into a forward-votes job. `since` is an ISO 8601 time. */
const progressSchema = z.object({
  server: z.string(),
  /** Absent while a worker processes the job. */
  waiting: z.number().optional(),
  reason: z.string().optional(),
  since: z.union([z.string(), z.number()]).optional(),
});

const counting = new Intl.NumberFormat('en-GB');
const timeOfDay = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', timeZone: 'UTC' });
const dayAndMonth = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });

/**
 * The name of a forward-votes job in Bull Board: `alpha: 1,204 votes waiting, connection refused since 14:02 UTC`.
 * While a worker processes the job: `Forward votes: alpha`. If no worker has written any progress yet: `title`.
 */
export function describeForwarding(progress: unknown, title: string, now: Date): string {
  const parsed = progressSchema.safeParse(progress);
  if (!parsed.success) return title;
  const { server, waiting, reason, since } = parsed.data;
  if (waiting === undefined) return `${title}: ${server}`;
  const votes = waiting === 1 ? '1 vote' : `${counting.format(waiting)} votes`;
  const why = reason ? `, ${reason.replaceAll('-', ' ')}` : '';
  return `${server}: ${votes} waiting${why}${describeSince(since, now)}`;
}

function describeSince(since: string | number | undefined, now: Date): string {
  const at = new Date(since ?? Number.NaN);
  if (Number.isNaN(at.getTime())) return '';
  const isToday = Math.floor(at.getTime() / DAY) === Math.floor(now.getTime() / DAY);
  return ` since ${isToday ? '' : `${dayAndMonth.format(at)}, `}${timeOfDay.format(at)} UTC`;
}
