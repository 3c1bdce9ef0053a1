import type { ObjectId } from 'mongodb';
import type { GoalPeriod } from '../goals/goal.ts';
import type { Config } from '../platform/config.ts';

const moment = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'long',
  hour: '2-digit',
  minute: '2-digit',
  timeZone: 'UTC',
});

/** `21 November at 08:00 UTC` */
export function notificationTime(at: Date): string {
  return `${moment.format(at)} UTC`;
}

const counting = new Intl.NumberFormat('en-GB');

export function numberText(number: number): string {
  return counting.format(number);
}

export function votes(number: number): string {
  return `${numberText(number)} ${number === 1 ? 'vote' : 'votes'}`;
}

/** Follow a number of votes. */
export const PERIOD_WORDS: Record<GoalPeriod, string> = {
  day: ' today',
  week: ' this week',
  month: ' this month',
  rolling: '',
};

/** `part`: a path below the server's dashboard page. */
export function dashboardUrl(
  { PUBLIC_URL }: Pick<Config, 'PUBLIC_URL'>,
  serverId: ObjectId,
  part: string,
): string {
  return `${PUBLIC_URL}/dashboard/servers/${serverId.toHexString()}${part}`;
}
