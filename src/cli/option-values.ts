import { InvalidArgumentError } from 'commander';
import { z } from 'zod';
import { MOST_TARGET } from '../goals/goal.ts';
import { MAX_SENDINGS } from '../listeners/delivery-limits.ts';
import { DAY, HOUR, MINUTE, SECOND } from '../platform/clock.ts';
import { TOKEN_SCOPES, type TokenScope } from '../servers/api-token.ts';

function wholeNumber(text: string, minimum: number, maximum: number): number {
  const number = Number(text);
  if (!/^\d{1,10}$/.test(text) || number < minimum || number > maximum) {
    throw new InvalidArgumentError(`It must be a whole number, ${minimum} to ${maximum}.`);
  }
  return number;
}

export function portOption(text: string): number {
  return wholeNumber(text, 1, 65_535);
}

export function sendings(text: string): number {
  return wholeNumber(text, 1, MAX_SENDINGS);
}

export function goalTarget(text: string): number {
  return wholeNumber(text, 1, MOST_TARGET);
}

export function rating(text: string): number {
  return wholeNumber(text, 1, 5);
}

export function limit(text: string): number {
  return wholeNumber(text, 1, 1_000);
}

export function portOrNone(text: string): number | 'none' {
  return text === 'none' ? text : portOption(text);
}

const UNITS: Record<string, number> = { s: SECOND, m: MINUTE, h: HOUR, d: DAY };

/** A duration such as `30s`, `15m`, `1h` or `90d`, in milliseconds. */
export function durationOption(text: string): number {
  const [, number, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const ms = Number(number) * (UNITS[unit ?? ''] ?? Number.NaN);
  if (!(ms > 0)) throw new InvalidArgumentError('It must be a time such as 30s, 15m, 1h or 90d.');
  return ms;
}

export function durationOrNever(text: string): number | 'never' {
  return text === 'never' ? text : durationOption(text);
}

export function scopes(text: string): TokenScope[] {
  const named = text.split(',').map((scope) => scope.trim());
  if (!named.every((scope) => (TOKEN_SCOPES as readonly string[]).includes(scope))) {
    throw new InvalidArgumentError(
      `It must be one or more of ${TOKEN_SCOPES.join(', ')}, separated by commas.`,
    );
  }
  return TOKEN_SCOPES.filter((scope) => named.includes(scope));
}

export function dayOption(text: string): string {
  if (!z.iso.date().safeParse(text).success) {
    throw new InvalidArgumentError('It must be a day such as 2026-11-20.');
  }
  return text;
}

const MOMENT = z.union([z.iso.date(), z.iso.datetime({ offset: true })]);

/** A moment: the beginning of a UTC day (`2026-11-20`), or a time with its offset. */
export function moment(text: string): Date {
  if (!MOMENT.safeParse(text).success) {
    throw new InvalidArgumentError(
      'It must be a day such as 2026-11-20 or a time such as 2026-11-20T08:00:00Z.',
    );
  }
  return new Date(text);
}
