import type { FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { InvalidDocumentError } from '../platform/document.ts';

/** What was typed into a form, to show it again, and what is wrong with which field. */
export type Typed = { values: Record<string, string>; errors: Record<string, string> };

/** A form that nobody has filled in yet. */
export const UNTOUCHED: Typed = { values: {}, errors: {} };

/** The fields of the form that came with a request, as text; a field that was given twice counts with its last. */
export function typedValues(request: FastifyRequest): Record<string, string> {
  const body = (request.body ?? {}) as Record<string, unknown>;
  return Object.fromEntries(
    Object.entries(body).map(([name, value]) => [name, String(Array.isArray(value) ? value.at(-1) : value)]),
  );
}

/** What stands behind the `?` of a request, as text without white space at its ends; what is empty is absent. */
export function queryOf(request: FastifyRequest): Record<string, string> {
  const query = (request.query ?? {}) as Record<string, unknown>;
  return Object.fromEntries(
    Object.entries(query)
      .map(([name, value]) => [name, String(Array.isArray(value) ? value.at(-1) : value).trim()] as const)
      .filter(([, value]) => value !== ''),
  );
}

/** The end of an address: `?name=value`, without what is absent; empty where all is. */
export function queryText(values: Record<string, string | undefined>): string {
  const given = Object.entries(values).filter((entry): entry is [string, string] => !!entry[1]);
  return given.length > 0 ? `?${new URLSearchParams(given)}` : '';
}

/** A rule that other doors give the field's name to stands beside its field here: `Must not be empty.` */
function asSentence(rule: string): string {
  const capital = `${rule.charAt(0).toUpperCase()}${rule.slice(1)}`;
  return /[.!?]$/.test(capital) ? capital : `${capital}.`;
}

/** Reads a form by its schema: the data, or what to show again. A missing field says what an empty one says. */
export function readForm<S extends z.ZodType>(
  schema: S,
  request: FastifyRequest,
): { data: z.output<S>; typed: Typed } | { data: null; typed: Typed } {
  const values = typedValues(request);
  const parsed = schema.safeParse(values);
  if (parsed.success) return { data: parsed.data, typed: { values, errors: {} } };
  const errors = sentencesOf(parsed.error);
  const missing = Object.keys(errors).filter((name) => name !== 'form' && !Object.hasOwn(values, name));
  const empty = Object.fromEntries(missing.map((name) => [name, '']));
  const ofEmpty = sentencesOf(schema.safeParse({ ...values, ...empty }).error);
  // It is refused also where it may be empty: what nobody sent must not clear what is stored.
  for (const name of missing) errors[name] = ofEmpty[name] ?? 'This field is missing.';
  return { data: null, typed: { values, errors } };
}

/** The first sentence about each field. */
function sentencesOf(error: z.ZodError | undefined): Record<string, string> {
  const errors: Record<string, string> = {};
  for (const { path, message } of error?.issues ?? []) {
    errors[String(path[0] ?? 'form')] ??= asSentence(message);
  }
  return errors;
}

/**
 * What a feature said of the fields, put beside them. Faults of fields that the form does not have stand under
 * `form`.
 *
 * @throws `error` itself unless it is about the input
 */
export function errorsOf(
  error: unknown,
  values: Record<string, string>,
  fields: Record<string, string> = {},
): Typed {
  if (!(error instanceof InvalidDocumentError)) throw error;
  const errors: Record<string, string> = {};
  for (const [field, sentence] of Object.entries(error.errors)) {
    const name = fields[field] ?? field;
    errors[name in values ? name : 'form'] ??= asSentence(sentence);
  }
  return { values, errors };
}

/** The form as it was typed, with one more sentence over it. */
export function withError(typed: Typed, sentence: string): Typed {
  return { values: typed.values, errors: { ...typed.errors, form: sentence } };
}
