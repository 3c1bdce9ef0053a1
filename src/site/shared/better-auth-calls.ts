import { setTimeout as pause } from 'node:timers/promises';
import { APIError } from 'better-auth/api';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { HashingClient } from '../../accounts/password-slots.ts';
import { defineMessage, filled, t } from '../../language/t.ts';
import { SECOND } from '../../platform/clock.ts';
import { widerNetworkOf } from '../../platform/limits/network-of.ts';
import { SIGN_UPS_HOURS } from '../../platform/settings/limit-settings.ts';
import { type RefusedForm, refused } from './form-route.ts';

/** Copies the `Set-Cookie` headers of a response of Better Auth, the sign-in library, to `reply`. */
export function giveCookies(reply: FastifyReply, headers: Headers): void {
  for (const cookie of headers.getSetCookie()) reply.header('set-cookie', cookie);
}

/** The code of a 4xx error of Better Auth. @throws `error` itself if it is another error */
export function refusalCode(error: unknown): string {
  if (!(error instanceof APIError)) throw error;
  if (error.statusCode >= 500) throw error;
  return error.body?.code ?? error.status.toString();
}

/** The refusal if too many mails with links were requested; `retryAt` goes into `Retry-After`. */
export function tooManyLinks(retryAt: Date): RefusedForm {
  return refused(429, t(TOO_MANY_LINKS), retryAt);
}

const TOO_MANY_LINKS = defineMessage(
  'Too many links were requested. Check your inbox: the links that we sent still work. Otherwise, try again later.',
);

/** The refusal if one network, mail domain or mailbox created too many accounts; `retryAt` goes into `Retry-After`. */
export function tooManyAccounts(retryAt: Date): RefusedForm {
  return refused(429, t(TOO_MANY_ACCOUNTS), retryAt);
}

export const TOO_MANY_ACCOUNTS = filled(
  defineMessage(
    'Too many new accounts came from your network, your mail provider or this mailbox in the last {hours} hours. Try again tomorrow, or with another network or mailbox.',
  ),
  { hours: SIGN_UPS_HOURS },
);

/**
 * The minimum duration of `withMinimumDuration`. It is longer than adding a mail to the queue, so it hides whether a
 * mail was added. Users hardly notice it.
 */
const EVEN_MS = SECOND / 2;

/**
 * Runs `work` and takes `EVEN_MS` at least, also if it throws, so that the response time does not reveal whether an
 * account exists.
 */
export async function withMinimumDuration<T>(work: () => Promise<T>): Promise<T> {
  const atLeast = pause(EVEN_MS);
  try {
    return await work();
  } finally {
    await atLeast;
  }
}

/**
 * Identifies the client for the limits of password hashing. `knownAs` is the e-mail address of an account that is
 * signed in, or that signed in with this browser before. Pass it only if the password of the same account is checked.
 */
export function hashingClientOf(request: FastifyRequest, knownAs: string | null = null): HashingClient {
  return { network: widerNetworkOf(request.ip), knownAs: knownAs?.trim().toLowerCase() ?? null };
}
