import { ObjectId } from 'mongodb';
import { z } from 'zod';
import { t } from '../../language/t.ts';
import { isId } from '../../servers/slug.ts';
import { INCOMPLETE } from '../shared/form.ts';
import { type Html, html } from '../shared/html.ts';

/** The schema of a hidden field that contains an id. If the id is invalid, the user did not cause it: `INCOMPLETE`. */
export const hiddenId = z
  .string()
  .refine(isId, { error: () => t(INCOMPLETE) })
  .transform((id) => new ObjectId(id));

/**
 * A hidden field with the id of the document that the form will create. If the form is sent twice, both requests have
 * the same id, so only one document is created.
 */
export function newIdField(): Html {
  return html`<input type="hidden" name="newId" value="${new ObjectId().toHexString()}" />`;
}
