import type { FastifyRequest } from 'fastify';
import { HOUR } from '../../clock.ts';

declare module '@fastify/secure-session' {
  interface SessionData {
    /** In milliseconds since 1970. */
    signedInAt: number;
  }
}

/** How long an operator stays signed in. */
export const SESSION_MS = 12 * HOUR;

/** When the operator who sent `request` signed in; undefined for a stranger. */
export function signedInAt(request: FastifyRequest): Date | undefined {
  const at = request.session.get('signedInAt');
  return at === undefined ? undefined : new Date(at);
}

/** Signs in whoever sent `request`. */
export function beginSession(request: FastifyRequest): void {
  request.session.set('signedInAt', Date.now());
}
