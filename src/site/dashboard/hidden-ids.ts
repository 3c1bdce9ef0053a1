import { ObjectId } from 'mongodb';
import { z } from 'zod';
import { t } from '../../language/t.ts';
import { isId } from '../../servers/slug.ts';
import { INCOMPLETE } from '../shared/form.ts';
import { type Html, html } from '../shared/html.ts';

/** Users cannot correct a hidden id, so its error says to reload the page. */
export const hiddenId = z
  .string()
  .refine(isId, { error: () => t(INCOMPLETE) })
  .transform((id) => new ObjectId(id));

/** A hidden field with the id of the new document: if the form is sent twice, only one document is created. */
export function newIdField(): Html {
  return html`<input type="hidden" name="newId" value="${new ObjectId().toHexString()}" />`;
}
