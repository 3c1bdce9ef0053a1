import { ObjectId } from 'mongodb';
import { z } from 'zod';
import { t } from '../../language/t.ts';
import { isId } from '../../servers/slug.ts';
import { INCOMPLETE } from '../shared/form.ts';
import { type Html, html } from '../shared/html.ts';

/** An id that the page wrote into a hidden field. */
export const hiddenId = z
  .string()
  .refine(isId, { error: () => t(INCOMPLETE) })
  .transform((id) => new ObjectId(id));

/** The id of what a form creates. It is made with the form, so that a form sent twice creates one. */
export function newIdField(): Html {
  return html`<input type="hidden" name="newId" value="${new ObjectId().toHexString()}" />`;
}
