import { z } from 'zod';
import { defineMessage, type Text, t } from '../../language/t.ts';
import { DAY } from '../../platform/clock.ts';
import { USUAL_LIFETIME_MS } from '../../servers/api-tokens.ts';
import { UNTOUCHED } from '../shared/form.ts';
import { fieldsOf } from '../shared/form-fields.ts';
import type { Html } from '../shared/html.ts';
import { optionsOf } from '../shared/parts.ts';

/** The lifetimes of a new token, in milliseconds. */
export const LIFETIMES = {
  '30d': 30 * DAY,
  '90d': 90 * DAY,
  '1y': USUAL_LIFETIME_MS,
  never: undefined,
} as const;
type Lifetime = keyof typeof LIFETIMES;

const WORDS: [Lifetime, Text][] = [
  ['1y', defineMessage('In a year')],
  ['90d', defineMessage('In 90 days')],
  ['30d', defineMessage('In 30 days')],
  ['never', defineMessage('Never')],
];

export const lifetimeSchema = z.enum(Object.keys(LIFETIMES) as [Lifetime, ...Lifetime[]], {
  error: () => t('Choose one of these.'),
});

/** The field for the lifetime of a new token. By default, one year is selected. */
export function lifetimeField(typed = UNTOUCHED): Html {
  return fieldsOf(typed).select('lifetime', {
    label: t('Expires'),
    hint: t('Replace it before then: the page of the tokens warns 30 days ahead.'),
    value: '1y',
    options: optionsOf(WORDS),
  });
}
