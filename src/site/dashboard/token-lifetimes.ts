import { z } from 'zod';
import { defineMessage, filled, type Text, t } from '../../language/t.ts';
import { DAY } from '../../platform/clock.ts';
import { USUAL_LIFETIME_MS } from '../../servers/api-tokens.ts';
import { UNTOUCHED } from '../shared/form.ts';
import { fieldsOf } from '../shared/form-fields.ts';
import type { Html } from '../shared/html.ts';
import { optionsOf } from '../shared/parts.ts';

/** The table marks tokens that expire within this time. */
export const SOON_DAYS = 30;

/** In milliseconds. */
export const LIFETIMES = {
  '30d': 30 * DAY,
  '90d': 90 * DAY,
  '1y': USUAL_LIFETIME_MS,
  never: undefined,
} as const;
type Lifetime = keyof typeof LIFETIMES;

const WORDS: [Lifetime, Text][] = [
  ['1y', defineMessage('In a year')],
  ['90d', filled(defineMessage('In {days} days'), { days: LIFETIMES['90d'] / DAY })],
  ['30d', filled(defineMessage('In {days} days'), { days: LIFETIMES['30d'] / DAY })],
  ['never', defineMessage('Never')],
];

export const lifetimeSchema = z.enum(Object.keys(LIFETIMES) as [Lifetime, ...Lifetime[]], {
  error: () => t('Choose one of these.'),
});

export function lifetimeField(typed = UNTOUCHED): Html {
  return fieldsOf(typed).select('lifetime', {
    label: t('Expires'),
    hint: t('Replace it before then: the page of the tokens warns {days} days ahead.', { days: SOON_DAYS }),
    value: '1y',
    options: optionsOf(WORDS),
  });
}
