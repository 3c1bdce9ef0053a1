import type { FastifyRequest } from 'fastify';

/**
 * The parameters of a plugin's call, from the query and the body. If a parameter is in both, the query counts. If it
 * occurs several times in one of them, its first value counts.
 */
export type Parameters = Record<string, string | undefined>;

export function parametersOf(request: FastifyRequest): Parameters {
  const all = { ...(request.body as object | null), ...(request.query as object) };
  const first = Object.entries(all).map(([name, value]) => [name, Array.isArray(value) ? value[0] : value]);
  return Object.fromEntries(
    first.map(([name, value]) => [name, typeof value === 'string' ? value.trim() : '']),
  );
}
