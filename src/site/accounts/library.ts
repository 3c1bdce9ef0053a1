import { APIError } from 'better-auth/api';
import type { FastifyReply } from 'fastify';

/** Hands the library's cookies on to the browser. */
export function giveCookies(reply: FastifyReply, headers: Headers): void {
  for (const cookie of headers.getSetCookie()) reply.header('set-cookie', cookie);
}

/**
 * The code of what the library refuses.
 *
 * @throws `error` itself when it is no refusal of the library's
 */
export function refusalCode(error: unknown): string {
  if (!(error instanceof APIError)) throw error;
  if (error.statusCode >= 500) throw error;
  return error.body?.code ?? error.status.toString();
}
