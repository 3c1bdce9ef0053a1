import { setTimeout as pause } from 'node:timers/promises';
import { APIError } from 'better-auth/api';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { HashingClient } from '../../accounts/password-slots.ts';
import { SECOND } from '../../platform/clock.ts';
import { siteOf } from '../../platform/limits/network-of.ts';

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

/** Said where no more links are sent for a while: those that were sent still work. */
export const TOO_MANY_LINKS =
  'Too many links were asked for. Look into your mailbox: those that were sent still work. Else wait a while.';

/** Longer than writing a mail takes, short for a user. */
const EVEN_MS = SECOND / 2;

/**
 * Does `work` in a time that does not tell what was done: an answer that comes sooner where an address is
 * unknown would say so.
 */
export async function evenly<T>(work: () => Promise<T>): Promise<T> {
  const [done] = await Promise.all([work(), pause(EVEN_MS)]);
  return done;
}

/**
 * For whom a password is hashed.
 *
 * @param knownAs - the e-mail address of the account that the known device, or the session on a page of its own account,
 *   belongs to. A session says nothing of other accounts.
 */
export function askerOf(request: FastifyRequest, knownAs: string | null = null): HashingClient {
  return { network: siteOf(request.ip), knownAs: knownAs?.trim().toLowerCase() ?? null };
}
