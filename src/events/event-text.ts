import type { ObjectId } from 'mongodb';
import type { GoalPeriod } from '../goals/goal.ts';
import { forEachLanguage, languageNow, localeOf } from '../language/language.ts';
import { t } from '../language/t.ts';
import { DAY, HOUR, MINUTE } from '../platform/clock.ts';
import type { Config } from '../platform/config.ts';

const formatsIn = forEachLanguage((language) => {
  const locale = localeOf(language);
  const unit = (unit: string) => new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'long' });
  return {
    moment: new Intl.DateTimeFormat(locale, {
      day: 'numeric',
      month: 'long',
      hour: '2-digit',
      minute: '2-digit',
      timeZone: 'UTC',
    }),
    number: new Intl.NumberFormat(locale),
    units: { day: unit('day'), hour: unit('hour'), minute: unit('minute') },
  };
});

/** `21 November at 08:00 UTC` */
export function notificationTime(at: Date): string {
  return `${formatsIn(languageNow()).moment.format(at)} UTC`;
}

export function numberText(number: number): string {
  return formatsIn(languageNow()).number.format(number);
}

export function votes(n: number): string {
  return t('{n, plural, one {# vote} other {# votes}}', { n });
}

/** `90 minutes`, `3 hours`: rounded; a unit is used from two of it on. */
export function durationText(ms: number): string {
  const { units } = formatsIn(languageNow());
  const sizes = [
    [DAY, units.day],
    [HOUR, units.hour],
    [MINUTE, units.minute],
  ] as const;
  const [size, unit] = sizes.find(([size]) => ms >= 2 * size) ?? sizes[2];
  return unit.format(Math.max(1, Math.round(ms / size)));
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
