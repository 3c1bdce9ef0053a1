import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { InvalidDocumentError } from '../../platform/document.ts';
import { isId } from '../../servers/slug.ts';
import { ExclusionError } from '../../votes/exclusions/request-exclusion.ts';
import { errorsOf, type Typed, typedValues, withError } from '../shared/form.ts';

export const idField = z.string().refine(isId, { error: 'must be an id' });

/**
 * What the form shows after `error`.
 *
 * @throws `error` itself if the form did not cause it
 */
export function exclusionErrors(request: FastifyRequest, error: unknown): Typed {
  const values = typedValues(request);
  if (error instanceof ExclusionError) return withError({ values, errors: {} }, error.message);
  if (error instanceof InvalidDocumentError) return errorsOf(error, values);
  throw error;
}
