import { z } from 'zod';
import { isId } from '../../servers/slug.ts';
import { ExclusionError } from '../../votes/exclusions/request-exclusion.ts';
import type { Typed } from '../shared/form.ts';
import { fieldsOf } from '../shared/form-fields.ts';
import { type RefusedForm, refused } from '../shared/form-route.ts';
import { type Html, html } from '../shared/html.ts';

type Reasons = {
  typed: Typed;
  /** The field that the owner or author reads. `reader` names them in the label: `the author`. */
  forOwner: { name: string; reader: string; required?: boolean };
  internal: { name: string; required?: boolean };
  /** Makes the ids unique if a page has several such forms. */
  of?: string;
};

const LONGEST = 500;

export function reasonFields({ typed, forOwner, internal, of }: Reasons): Html {
  const field = (name: string, label: string, hint: string, required = false) =>
    fieldsOf(typed).area(name, {
      id: of ? `${name}-${of}` : name,
      label: required ? label : `${label} (optional)`,
      hint,
      rows: 2,
      maxlength: LONGEST,
      required,
    });
  const owner = field(
    forOwner.name,
    `Reason for ${forOwner.reader}`,
    `Shown to ${forOwner.reader}.`,
    forOwner.required,
  );
  const own = field(
    internal.name,
    'Internal reason',
    'For operators only, in the audit log.',
    internal.required,
  );
  return html`${owner}${own}`;
}

/** UTC, to the minute: `2026-11-21T14:02`. */
export function utcFieldValue(at: Date): string {
  return at.toISOString().slice(0, 16);
}

const RULE = 'must be a time such as 2026-11-21T14:02';

const MOMENT = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?)?$/;

/** Reads a `datetime-local` field as UTC; a day without a time is the start of the day. */
export const utcMoment = z
  .string()
  .refine((text) => MOMENT.test(text) && !Number.isNaN(Date.parse(asUtc(text))), {
    error: RULE,
  })
  .transform((text) => new Date(asUtc(text)));

/** null if the field is empty. */
export const optionalUtcMoment = z.union([z.literal('').transform(() => null), utcMoment], RULE);

function asUtc(text: string): string {
  return text.includes('T') ? `${text}Z` : `${text}T00:00Z`;
}

export const idField = z.string().refine(isId, { error: 'must be an id' });

export function exclusionRefusal(error: unknown): RefusedForm | undefined {
  return error instanceof ExclusionError ? refused(400, error.message) : undefined;
}
