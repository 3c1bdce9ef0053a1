import type { ObjectId } from 'mongodb';
import type { GoalPeriod } from '../goals/goal.ts';
import { DAY, HOUR, MINUTE } from '../platform/clock.ts';
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

/** `90 minutes`, `3 hours`: rounded; a unit is used from two of it on. */
export function durationText(ms: number): string {
  const units = [
    [DAY, 'day'],
    [HOUR, 'hour'],
    [MINUTE, 'minute'],
  ] as const;
  const [size, unit] = units.find(([size]) => ms >= 2 * size) ?? units[2];
  const number = Math.max(1, Math.round(ms / size));
  return `${number} ${unit}${number === 1 ? '' : 's'}`;
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
