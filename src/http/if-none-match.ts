import type { FastifyRequest } from 'fastify';

/** A weak comparison (RFC 9110, 13.1.2). */
export function isKnownTag({ headers }: Pick<FastifyRequest, 'headers'>, tag: string): boolean {
  const known = headers['if-none-match']?.split(',').map((one) => withoutWeak(one.trim()));
  return known?.some((one) => one === withoutWeak(tag) || one === '*') ?? false;
}

function withoutWeak(tag: string): string {
  return tag.replace(/^W\//, '');
}
