import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { capitalized } from '../../language/language.ts';
import { defineMessage, t } from '../../language/t.ts';

export type Typed = { values: Record<string, string>; errors: Record<string, string> };

export const UNTOUCHED: Typed = { values: {}, errors: {} };

/** The user can only reload the page. */
export const INCOMPLETE = defineMessage('The form was incomplete. Reload the page.');

/** The called function validates it, not the form. A missing field counts as empty. */
export const fieldText = z.string().default('');

export function typedValues(request: FastifyRequest): Record<string, string> {
  const body = (request.body ?? {}) as Record<string, unknown>;
  return Object.fromEntries(
    Object.entries(body).map(([name, value]) => [name, String(Array.isArray(value) ? value.at(-1) : value)]),
  );
}

export function allValues(request: FastifyRequest, name: string): string[] {
  const body = (request.body ?? {}) as Record<string, unknown>;
  return [body[name] ?? []].flat().map(String);
}

export function queryOf(request: FastifyRequest): Record<string, string> {
  const query = (request.query ?? {}) as Record<string, unknown>;
  return Object.fromEntries(
    Object.entries(query)
      .map(([name, value]) => [name, String(Array.isArray(value) ? value.at(-1) : value).trim()] as const)
      .filter(([, value]) => value !== ''),
  );
}

/** `?name=value`, without empty values; `''` if all are empty. */
export function queryText(values: Record<string, string | undefined>): string {
  const given = Object.entries(values).filter((entry): entry is [string, string] => !!entry[1]);
  return given.length > 0 ? `?${new URLSearchParams(given)}` : '';
}

/** `must not be empty` becomes `Must not be empty.` */
function asSentence(rule: string): string {
  const capital = capitalized(rule);
  return /[.!?]$/.test(capital) ? capital : `${capital}.`;
}

export function sentencesOf(rules: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(rules).map(([name, rule]) => [name, asSentence(rule)]));
}

/** A missing field gets the error of an empty one. */
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
    // A missing field must not clear the stored value, even if it may be empty.
    if (!rule) errors.form = t(INCOMPLETE);
  }
  return { data: null, typed: { values, errors: sentencesOf(errors) } };
}

function rulesOf(error: z.ZodError | undefined): Record<string, string> {
  const errors: Record<string, string> = {};
  for (const { path, message } of error?.issues ?? []) errors[String(path[0] ?? 'form')] ??= message;
  return errors;
}
