import type { Document } from 'mongodb';
import type { Schema } from 'mongoose';
import { SCHEMAS } from '../../src/database/collections.ts';

const schemas = new Map(SCHEMAS.map((schema) => [schema.get('collection'), schema]));

/** The operations whose first argument is a filter. */
const FILTERED = /^(find|count|update|delete|replace)/;

/** Collections in which the sign-in library stores fields that are not in our schemas. */
const OF_THE_LIBRARY = new Set(['credentials', 'two_factors', 'verifications', 'sessions']);

/**
 * Throws if a filter names a field that no document has, because the driver's types accept misspelt keys. mongoose
 * calls it for each operation on `Model.collection`.
 */
export function requireKnownKeys(collection: string, operation: string, first: unknown): void {
  const schema = schemas.get(collection);
  if (!schema || OF_THE_LIBRARY.has(collection)) return;
  const filters = FILTERED.test(operation) ? [first] : operation === 'bulkWrite' ? bulkFilters(first) : [];
  for (const key of filters.flatMap(keysOf)) {
    if (!isKnown(schema, key)) throw new Error(`${operation} of ${collection}: there is no field “${key}”`);
  }
}

function bulkFilters(operations: unknown): unknown[] {
  const all = Array.isArray(operations) ? operations : [];
  return all.flatMap((operation: Document) => Object.values(operation).map(({ filter }) => filter));
}

function keysOf(filter: unknown): string[] {
  if (typeof filter !== 'object' || filter === null) return [];
  return Object.entries(filter).flatMap(([key, value]) => {
    if (!key.startsWith('$')) return [key];
    return Array.isArray(value) && ['$and', '$or', '$nor'].includes(key) ? value.flatMap(keysOf) : [];
  });
}

const known = new Map<Schema, Set<string>>();

function isKnown(schema: Schema, key: string): boolean {
  const keys = known.get(schema) ?? new Set();
  known.set(schema, keys);
  if (keys.has(key)) return true;
  const found = hasPath(schema, key);
  if (found) keys.add(key);
  return found;
}

/** Whether the key is a path of the schema, or lies within a field of mixed type. */
function hasPath(schema: Schema, key: string): boolean {
  if (schema.pathType(key) !== 'adhocOrUndefined') return true;
  const parts = key.split('.');
  return parts.some((_, at) => schema.path(parts.slice(0, at).join('.'))?.instance === 'Mixed');
}
