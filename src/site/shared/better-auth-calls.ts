import { setTimeout as pause } from 'node:timers/promises';
import { APIError } from 'better-auth/api';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { HashingClient } from '../../accounts/password-slots.ts';
import { defineMessage, t } from '../../language/t.ts';
import { SECOND } from '../../platform/clock.ts';
import { widerNetworkOf } from '../../platform/limits/network-of.ts';
import { type Refused, refused } from './form-route.ts';

/** Copies the `Set-Cookie` headers of a response of Better Auth, the sign-in library, to `reply`. */
export function giveCookies(reply: FastifyReply, headers: Headers): void {
  for (const cookie of headers.getSetCookie()) reply.header('set-cookie', cookie);
}

/**
 * The code of a 4xx error of the sign-in library.
 *
 * @throws `error` itself if it is another error
 */
export function refusalCode(error: unknown): string {
  if (!(error instanceof APIError)) throw error;
  if (error.statusCode >= 500) throw error;
  return error.body?.code ?? error.status.toString();
}

/** The refusal if too many mails with links were requested; `retryAt` goes into `Retry-After`. */
export function tooManyLinks(retryAt: Date): Refused {
  return refused(429, t(TOO_MANY_LINKS), retryAt);
}

const TOO_MANY_LINKS = defineMessage(
  'Too many links were requested. Check your inbox: the links that we sent still work. Otherwise, try again later.',
);

/**
 * The refusal if too many accounts were created from one network or mail domain; `retryAt` goes into `Retry-After`.
 */
export function tooManyAccounts(retryAt: Date): Refused {
  return refused(429, t(TOO_MANY_ACCOUNTS), retryAt);
}

export const TOO_MANY_ACCOUNTS = defineMessage(
  'Too many new accounts came from your network, your mail provider or this mailbox in the last 24 hours. Try again tomorrow, or with another network or mailbox.',
);

/** The minimum duration. To add a mail to the queue takes less, and a user hardly notices it. */
const EVEN_MS = SECOND / 2;

/**
 * Runs `work` and returns its result after `EVEN_MS` at the earliest. So the response time does not reveal whether an
 * e-mail address has an account.
 */
export async function withMinimumDuration<T>(work: () => Promise<T>): Promise<T> {
  const [result] = await Promise.all([work(), pause(EVEN_MS)]);
  return result;
}

/**
 * Identifies the client for the limits of password hashing.
 *
 * @param knownAs - the e-mail address of an account that signed in with this browser before, or that is signed in now.
 * Pass it only if the password is checked for the same account.
 */
export function hashingClientOf(request: FastifyRequest, knownAs: string | null = null): HashingClient {
  return { network: widerNetworkOf(request.ip), knownAs: knownAs?.trim().toLowerCase() ?? null };
}
