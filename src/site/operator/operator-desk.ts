import { readFile } from 'node:fs/promises';
import secureSession from '@fastify/secure-session';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ObjectId } from 'mongodb';
import { after, SECOND } from '../../clock.ts';
import { listenerOverview } from '../../delivery/listener-overview.ts';
import type { Platform } from '../../platform.ts';
import { derivedKey } from '../../secrets.ts';
import { createWaitingWork } from '../../waiting-work.ts';
import { listenerPage, listenerPageQuery, noListenerPage } from './listener-page.ts';
import { homePage } from './pages.ts';
import { queueBoard } from './queue-board.ts';
import { isSameOrigin } from './same-origin.ts';
import { SESSION_MS, signedInAt } from './session.ts';
import { signIn } from './sign-in.ts';
import { wantsPage } from './wants-page.ts';

/** Nothing from anywhere else, no script at all, never inside another site's frame. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "style-src 'self'",
  "img-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

const HIDDEN = { schema: { hide: true } };

/** What the desk takes from the platform. */
export type DeskSources = Pick<
  Platform,
  'config' | 'log' | 'clock' | 'queues' | 'servers' | 'votes' | 'listeners' | 'producerRedis' | 'mongo'
>;

/**
 * The operator's desk: sign-in, the figures of the queues, Bull Board. Registered with its own prefix:
 * `app.register(operatorDesk, { prefix: '/operator', sources })`. Without `OPERATOR_PASSWORD_HASH` it has no
 * route, so the application answers 404.
 */
export async function operatorDesk(
  app: FastifyInstance,
  { sources }: { sources: DeskSources },
): Promise<void> {
  const { config } = sources;
  const { OPERATOR_PASSWORD_HASH: passwordHash, SECRET_KEY: secret, PUBLIC_URL: publicUrl } = config;
  if (!passwordHash) return;
  const deskPath = app.prefix;

  await app.register(secureSession, {
    // The hash is part of the key: a changed password ends every session.
    key: derivedKey(secret, `operator session ${passwordHash}`),
    cookieName: 'tallyport_operator',
    expiry: SESSION_MS / SECOND,
    cookie: {
      path: deskPath,
      httpOnly: true,
      // Not `strict`: a link in a chat to a job's page would ask a signed-in operator to sign in again. What
      // changes something is refused across origins below, so `lax` lets nothing through that could do harm.
      sameSite: 'lax',
      secure: publicUrl.startsWith('https:'),
      maxAge: SESSION_MS / SECOND,
    },
  });

  app.addHook('onRequest', async (request, reply) => {
    reply.header('content-security-policy', CONTENT_SECURITY_POLICY);
    // Under `no-referrer` a browser sends `Origin: null` with our own forms.
    reply.header('referrer-policy', 'same-origin');
    if (request.method === 'GET' || request.method === 'HEAD' || isSameOrigin(request, publicUrl)) return;
    request.log.warn({ event: 'operator.foreign_origin', origin: request.headers.origin });
    return reply.code(403).send({ error: 'This request was not sent by the operator desk itself.' });
  });
  await serveAssets(app);
  await app.register(signIn, { deskPath, passwordHash });
  await app.register(async (signedIn) => {
    signedIn.addHook('onRequest', (request, reply) => refuseStrangers(request, reply, deskPath));
    await deskRoutes(signedIn, sources, deskPath);
    await signedIn.register(queueBoard, { prefix: '/queues', sources, deskPath });
  });
}

async function refuseStrangers(request: FastifyRequest, reply: FastifyReply, deskPath: string) {
  if (signedInAt(request)) return;
  const isPage = request.method === 'GET' && wantsPage(request);
  if (isPage) return reply.redirect(`${deskPath}/sign-in?next=${encodeURIComponent(request.url)}`, 303);
  return reply.code(401).send({ error: `Sign in at ${deskPath}/sign-in first.` });
}

async function deskRoutes(app: FastifyInstance, sources: DeskSources, deskPath: string): Promise<void> {
  const waitingWork = createWaitingWork(sources);
  app.get('/', HIDDEN, async (request, reply) => {
    const until = after(signedInAt(request) ?? sources.clock.now(), SESSION_MS);
    const page = await homePage({ deskPath, work: await waitingWork(), until });
    return reply.header('cache-control', 'no-store').type('text/html; charset=utf-8').send(String(page));
  });
  app.get('/listeners/:listenerId', HIDDEN, async (request, reply) => {
    const { listenerId } = request.params as { listenerId: string };
    const { state, from } = listenerPageQuery.parse(request.query);
    const overview = /^[0-9a-f]{24}$/.test(listenerId)
      ? await listenerOverview(sources, new ObjectId(listenerId), { state, from })
      : null;
    const now = sources.clock.now();
    const page = overview
      ? listenerPage({ deskPath, overview, listenerId, state, now })
      : noListenerPage(deskPath);
    reply.code(overview ? 200 : 404).header('cache-control', 'no-store');
    return reply.type('text/html; charset=utf-8').send(String(await page));
  });
  app.post('/sign-out', HIDDEN, async (request, reply) => {
    request.session.delete();
    return reply.redirect(`${deskPath}/sign-in`, 303);
  });
}

async function serveAssets(app: FastifyInstance): Promise<void> {
  const assets = [
    { path: '/desk.css', file: './desk.css', type: 'text/css; charset=utf-8' },
    { path: '/tallyport.svg', file: '../tallyport.svg', type: 'image/svg+xml' },
  ];
  for (const { path, file, type } of assets) {
    const content = await readFile(new URL(file, import.meta.url));
    app.get(path, HIDDEN, async (_request, reply) =>
      reply.header('cache-control', 'max-age=3600').type(type).send(content),
    );
  }
}
