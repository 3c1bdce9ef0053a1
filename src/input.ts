import type { z } from 'zod';
import { InvalidDocumentError } from './document.ts';

/**
 * Checks what people typed against its zod schema and returns it as the schema makes it.
 *
 * @throws {InvalidDocumentError} with one sentence for each field that is wrong.
 */
export function parseInput<S extends z.ZodType>(schema: S, input: unknown): z.output<S> {
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  const faults: Record<string, string> = {};
  for (const issue of parsed.error.issues) faults[String(issue.path[0] ?? 'input')] ??= issue.message;
  throw new InvalidDocumentError(faults);
}
