import type { z } from 'zod';

type Camel<K> = K extends `${infer First}_${infer Rest}` ? `${First}${Capitalize<Camel<Rest>>}` : K;
/** What may stand for a value of an answer: a time for its text, `undefined` for null. */
type Given<T> = T | (string extends T ? Date : never) | (null extends T ? undefined : never);
type Fields<T> = { [K in keyof T as Camel<K>]: Given<T[K]> };

const cache = new WeakMap<z.ZodObject, { key: string; field: string; isNullable: boolean }[]>();

/**
 * An answer from the fields as the code names them (`votedAt` for `voted_at`), without fields that the schema lacks. An
 * absent value becomes null, or is left out where the schema has no null.
 */
export function publicRecord<S extends z.ZodObject>(schema: S, fields: Fields<z.output<S>>): z.output<S> {
  const given: Record<string, unknown> = fields;
  const record: Record<string, unknown> = {};
  for (const { key, field, isNullable } of keysOf(schema)) {
    const value = given[field] ?? (isNullable ? null : undefined);
    if (value !== undefined) record[key] = value instanceof Date ? value.toISOString() : value;
  }
  return record as z.output<S>;
}

function keysOf(schema: z.ZodObject) {
  const known = cache.get(schema);
  if (known) return known;
  const keys = Object.entries(schema.shape).map(([key, value]) => ({
    key,
    field: key.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase()),
    isNullable: (value as z.ZodType).isNullable(),
  }));
  cache.set(schema, keys);
  return keys;
}
