import { z } from 'zod';
import { isId } from '../../servers/slug.ts';
import { type Typed, UNTOUCHED } from '../shared/form.ts';
import { fieldsOf } from '../shared/form-fields.ts';
import { type Content, type Html, html } from '../shared/html.ts';

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
  const idOf = (name: string) => (of ? `${name}-${of}` : name);
  const { name, reader, required } = forOwner;
  const texts = { label: `Reason for ${reader}`, hint: `Shown to ${reader}.` };
  const owner = reasonField(typed, name, texts, required, idOf(name));
  return html`${owner}${internalReason(typed, internal.name, internal.required ?? false, idOf(internal.name))}`;
}

/**
 * Opens the reasons of a decision, within a form that the caller makes. If other decisions share the form (`isShared`),
 * the browser cannot require the reason: the answer refuses.
 */
export function reasonedDecision(decision: {
  opens: Content;
  button: string;
  value: string;
  reader: string;
  of: string;
  isShared?: boolean;
  /** What is proposed. */
  reason?: string;
}): Html {
  const { opens, button, value, reader, of, isShared = false, reason } = decision;
  const fields = reasonFields({
    typed: reason ? { ...UNTOUCHED, values: { reason } } : UNTOUCHED,
    forOwner: { name: 'reasonForOwner', reader },
    internal: { name: 'reason', required: !isShared },
    of,
  });
  return html`<details class="confirm">
    <summary class="button quiet">${opens}</summary>
    <div class="confirm-body stack">${fields}
      <button class="danger" type="submit" name="decision" value="${value}">${button}</button></div>
  </details>`;
}

export function internalReason(typed: Typed, name: string, required = true, id = name): Html {
  const texts = { label: 'Internal reason', hint: 'For operators only, in the audit log.' };
  return reasonField(typed, name, texts, required, id);
}

function reasonField(
  typed: Typed,
  name: string,
  { label, hint }: { label: string; hint: string },
  required = false,
  id = name,
): Html {
  const shown = required ? label : `${label} (optional)`;
  return fieldsOf(typed).area(name, { id, label: shown, hint, rows: 2, maxlength: LONGEST, required });
}

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

export const optionalUtcMoment = z.union([z.literal('').transform(() => null), utcMoment], RULE);

function asUtc(text: string): string {
  return text.includes('T') ? `${text}Z` : `${text}T00:00Z`;
}

export const idField = z.string().refine(isId, { error: 'must be an id' });

export function hiddenFields(fields: Record<string, string>): Html {
  return html`${Object.entries(fields).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`,
  )}`;
}
