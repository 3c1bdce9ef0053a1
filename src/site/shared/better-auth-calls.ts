import { setTimeout as pause } from 'node:timers/promises';
import { APIError } from 'better-auth/api';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { HashingClient } from '../../accounts/password-slots.ts';
import { defineMessage, filled, t } from '../../language/t.ts';
import { SECOND } from '../../platform/clock.ts';
import { widerNetworkOf } from '../../platform/limits/network-of.ts';
import { SIGN_UPS_HOURS } from '../../platform/settings/limit-settings.ts';
import { type RefusedForm, refused } from './form-route.ts';

export function giveCookies(reply: FastifyReply, headers: Headers): void {
  for (const cookie of headers.getSetCookie()) reply.header('set-cookie', cookie);
}

/** @throws `error` itself if it is no 4xx error of Better Auth */
export function refusalCode(error: unknown): string {
  if (!(error instanceof APIError)) throw error;
  if (error.statusCode >= 500) throw error;
  return error.body?.code ?? error.status.toString();
}

export function tooManyLinks(retryAt: Date): RefusedForm {
  const sentence = t(
    'Too many links were requested. Check your inbox: the links that we sent still work. Otherwise, try again later.',
  );
  return refused(429, sentence, retryAt);
}

export function tooManyAccounts(retryAt: Date): RefusedForm {
  return refused(429, t(TOO_MANY_ACCOUNTS), retryAt);
}

export const TOO_MANY_ACCOUNTS = filled(
  defineMessage(
    'Too many new accounts came from your network, your mail provider or this mailbox in the last {hours} hours. Try again tomorrow, or with another network or mailbox.',
  ),
  { hours: SIGN_UPS_HOURS },
);

/** Longer than adding a mail to the queue, so it hides whether a mail was added. */
const EVEN_MS = SECOND / 2;

/** The response time does not reveal whether an account exists, also if `work` throws. */
export async function withMinimumDuration<T>(work: () => Promise<T>): Promise<T> {
  const atLeast = pause(EVEN_MS);
  try {
    return await work();
  } finally {
    await atLeast;
  }
}

/**
 * `knownAs` is the address of an account that is signed in, or was with this browser. Pass it only if the password of
 * that account is checked.
 */
export function hashingClientOf(request: FastifyRequest, knownAs: string | null = null): HashingClient {
  return { network: widerNetworkOf(request.ip), knownAs: knownAs?.trim().toLowerCase() ?? null };
}
