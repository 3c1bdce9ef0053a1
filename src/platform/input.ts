import { z } from 'zod';
import { t } from '../language/t.ts';
import { HostError, parseHost } from './address-guard.ts';
import { InvalidDocumentError } from './document.ts';

/** @throws {InvalidDocumentError} with one sentence for each field that is wrong */
export function parseInput<S extends z.ZodType>(schema: S, input: unknown): z.output<S> {
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  const errors: Record<string, string> = {};
  for (const { path, message } of parsed.error.issues) {
    const field = String(path[0] ?? 'input');
    errors[field] ??= fieldError(field, message);
  }
  throw new InvalidDocumentError(errors);
}

/** A host name or an IP address, in one spelling (see `parseHost`). */
export const hostSchema = z.string({ error: () => t('must be text') }).transform((value, context) => {
  try {
    return parseHost(value);
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    context.addIssue({ code: 'custom', message: error.message });
    return z.NEVER;
  }
});

/**
 * Adds the field's name to an English message that begins with "must": `queryPort` becomes "The query port must …". In
 * other languages, the form shows the rule beside the field.
 */
function fieldError(field: string, rule: string): string {
  if (!rule.startsWith('must ')) return rule;
  return `The ${field.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)} ${rule}.`;
}
