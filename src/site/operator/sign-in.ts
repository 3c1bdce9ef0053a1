import formbody from '@fastify/formbody';
import rateLimit from '@fastify/rate-limit';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { MINUTE, SECOND } from '../../clock.ts';
import { nextPath } from './next-path.ts';
import { signInPage } from './pages.ts';
import { verifyPassword } from './password.ts';
import { beginSession, signedInAt } from './session.ts';
import { createTurnstile } from './turnstile.ts';
import { wantsPage } from './wants-page.ts';

/** Enough for somebody who mistypes, far too few for somebody who guesses. */
const TRIES = { max: 10, timeWindow: 10 * MINUTE };

const formSchema = z.object({ password: z.string().max(1_024), next: z.string().max(2_048).optional() });

/**
 * `GET` and `POST …/sign-in`. A try costs the process 32 MiB and a third of a second of one core, so two are
 * checked at once, few wait, and an address has ten in ten minutes.
 */
export async function signIn(
  app: FastifyInstance,
  { deskPath, passwordHash }: { deskPath: string; passwordHash: string },
): Promise<void> {
  const inTurn = createTurnstile(2, 8);
  await app.register(formbody, { bodyLimit: 8 * 1_024 });
  await app.register(rateLimit, {
    global: false,
    ...TRIES,
    errorResponseBuilder: (_request, { statusCode, ttl }) =>
      Object.assign(new Error(`Too many tries from your address. Try again in ${minutes(ttl)}.`), {
        statusCode,
        retryAfterMs: ttl,
      }),
  });
  app.setErrorHandler(showFault);

  app.get('/sign-in', HIDDEN, async (request, reply) => {
    const { next } = request.query as { next?: unknown };
    if (signedInAt(request)) return reply.redirect(nextPath(next, deskPath), 303);
    return sendPage(reply, 200, { deskPath, next: nextPath(next, deskPath) });
  });

  app.post('/sign-in', { ...HIDDEN, config: { rateLimit: TRIES } }, async (request, reply) => {
    const form = formSchema.safeParse(request.body);
    const next = nextPath(form.data?.next, deskPath);
    const isRight = form.success && (await inTurn(() => verifyPassword(form.data.password, passwordHash)));
    if (!isRight) {
      request.log.warn({ event: 'operator.sign_in_refused', address: request.ip });
      return sendPage(reply, 401, { deskPath, next, fault: 'That is not the password.' });
    }
    request.log.info({ event: 'operator.signed_in', address: request.ip });
    beginSession(request);
    return reply.redirect(next, 303);
  });

  function showFault(
    error: FastifyError & { retryAfterMs?: number },
    request: FastifyRequest,
    reply: FastifyReply,
  ) {
    const status = error.statusCode ?? 500;
    if (status === 503) reply.header('retry-after', 5);
    if (error.retryAfterMs) reply.header('retry-after', Math.ceil(error.retryAfterMs / SECOND));
    if (status >= 500 && status !== 503) throw error;
    if (!wantsPage(request)) throw error;
    return sendPage(reply, status, { deskPath, next: deskPath, fault: error.message });
  }
}

/** Pages for people are not part of the API's description. */
const HIDDEN = { schema: { hide: true } };

function minutes(ms: number): string {
  const count = Math.max(1, Math.ceil(ms / MINUTE));
  return count === 1 ? 'a minute' : `${count} minutes`;
}

async function sendPage(
  reply: FastifyReply,
  status: number,
  page: Parameters<typeof signInPage>[0],
): Promise<FastifyReply> {
  return reply
    .code(status)
    .type('text/html; charset=utf-8')
    .send(String(await signInPage(page)));
}
