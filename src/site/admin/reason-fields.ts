import type { Typed } from '../shared/form.ts';
import { fieldsOf } from '../shared/form-fields.ts';
import { type Html, html } from '../shared/html.ts';

/** The names of a form's two fields for reasons, and which of them are required. */
type Reasons = {
  typed: Typed;
  /** The field whose text the owner or author reads. `reader` says in the label who reads it: `the author`. */
  forOwner: { name: string; reader: string; required?: boolean };
  internal: { name: string; required?: boolean };
  /** If a page has several such forms: a suffix that makes the ids of the fields unique. */
  of?: string;
};

const LONGEST = 500;

/** The fields for the two reasons of a decision: one that the owner or author reads, and one for operators only. */
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
