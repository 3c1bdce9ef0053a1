import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { defineMessage, t } from '../../language/t.ts';

/** The entered values of a form, and the error of each field. */
export type Typed = { values: Record<string, string>; errors: Record<string, string> };

/** A form without entered values and errors. */
export const UNTOUCHED: Typed = { values: {}, errors: {} };

/** The error if the browser sent fewer fields than the form has. The user can only reload the page. */
export const INCOMPLETE = defineMessage('The form was incomplete. Reload the page.');

/** A text field that the called function validates, not the form. A missing field counts as empty. */
export const fieldText = z.string().default('');

/** The form fields of a request as text. If a field occurs twice, the last value counts. */
export function typedValues(request: FastifyRequest): Record<string, string> {
  const body = (request.body ?? {}) as Record<string, unknown>;
  return Object.fromEntries(
    Object.entries(body).map(([name, value]) => [name, String(Array.isArray(value) ? value.at(-1) : value)]),
  );
}

/** All values of a field that occurs several times, such as a group of check boxes. */
export function allValues(request: FastifyRequest, name: string): string[] {
  const body = (request.body ?? {}) as Record<string, unknown>;
  return [body[name] ?? []].flat().map(String);
}

/** The query parameters of a request as trimmed text, without empty ones. */
export function queryOf(request: FastifyRequest): Record<string, string> {
  const query = (request.query ?? {}) as Record<string, unknown>;
  return Object.fromEntries(
    Object.entries(query)
      .map(([name, value]) => [name, String(Array.isArray(value) ? value.at(-1) : value).trim()] as const)
      .filter(([, value]) => value !== ''),
  );
}

/** A query string such as `?name=value`, without empty values; `''` if all are empty. */
export function queryText(values: Record<string, string | undefined>): string {
  const given = Object.entries(values).filter((entry): entry is [string, string] => !!entry[1]);
  return given.length > 0 ? `?${new URLSearchParams(given)}` : '';
}

/** Turns a rule into a sentence: `must not be empty` becomes `Must not be empty.` */
function asSentence(rule: string): string {
  const capital = `${rule.charAt(0).toUpperCase()}${rule.slice(1)}`;
  return /[.!?]$/.test(capital) ? capital : `${capital}.`;
}

/** Converts the error texts of fields to sentences. */
export function sentencesOf(rules: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(rules).map(([name, rule]) => [name, asSentence(rule)]));
}

/** Validates a form. Returns the data, or null with the errors. A missing field gets the error of an empty one. */
export function readForm<S extends z.ZodType>(
  schema: S,
  request: FastifyRequest,
): { data: z.output<S>; typed: Typed } | { data: null; typed: Typed } {
  const values = typedValues(request);
  const parsed = schema.safeParse(values);
  if (parsed.success) return { data: parsed.data, typed: { values, errors: {} } };
  const errors = rulesOf(parsed.error);
  const missing = Object.keys(errors).filter((name) => name !== 'form' && !Object.hasOwn(values, name));
  const empty = Object.fromEntries(missing.map((name) => [name, '']));
  const emptyErrors = rulesOf(schema.safeParse({ ...values, ...empty }).error);
  for (const name of missing) {
    const rule = emptyErrors[name];
    errors[name] = rule ?? t('This field is missing.');
    // If a missing field may be empty: refuse the form, because a missing field must not clear the stored value.
    if (!rule) errors.form = t(INCOMPLETE);
  }
  return { data: null, typed: { values, errors: sentencesOf(errors) } };
}

/** The first error of each field, by field name. */
function rulesOf(error: z.ZodError | undefined): Record<string, string> {
  const errors: Record<string, string> = {};
  for (const { path, message } of error?.issues ?? []) errors[String(path[0] ?? 'form')] ??= message;
  return errors;
}
