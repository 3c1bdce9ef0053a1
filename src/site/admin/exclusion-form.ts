import { z } from 'zod';
import { isId } from '../../servers/slug.ts';
import { ExclusionError } from '../../votes/exclusions/request-exclusion.ts';
import { type RefusedForm, refused } from '../shared/form-route.ts';

export const idField = z.string().refine(isId, { error: 'must be an id' });

/** The refusal of a form that excludes votes, for an `ExclusionError`; undefined for any other error. */
export function exclusionRefusal(error: unknown): RefusedForm | undefined {
  return error instanceof ExclusionError ? refused(400, error.message) : undefined;
}
