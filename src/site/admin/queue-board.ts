import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { FastifyAdapter } from '@bull-board/fastify';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { ErrorCode } from '../../http/error-codes.ts';
import { isDeliveryQueue } from '../../listeners/delivery-queues.ts';
import { recordAudit } from '../../platform/audit/audit-log.ts';
import { DAY, SECOND } from '../../platform/clock.ts';
import { QUEUE_NAMES, QUEUES, type QueueName } from '../../platform/queues.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import { describeUnavailable, unavailableQueues } from '../../process/redis-queues.ts';
import { isByOperator, userOf } from '../guard-routes.ts';

const TIMEOUT_MS = 2 * SECOND;

/** Bull Board needs inline styles. Other sites are not allowed. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** The link that loads two fonts from Google. Without it, Bull Board uses system fonts. */
const REMOTE_FONTS = /<link [^>]*href="https:\/\/fonts\.googleapis\.com[^>]*>\s*/g;

/**
 * The buttons only speed up or delay work: votes are in MongoDB. The two that write a payload get 403: nobody needs
 * them, because the sweep adds a job for every listener with due votes.
 */
export async function queueBoard(app: FastifyInstance, { deps }: { deps: AppDeps }): Promise<void> {
  const { site } = app;
  const adminPath = `${site.base}/operator`;
  const board = new FastifyAdapter();
  app.accessOfAll = 'operator';
  createBullBoard({
    serverAdapter: board,
    queues: QUEUE_NAMES.map((name) => boardQueue(deps, name, adminPath)),
    options: {
      uiConfig: {
        boardTitle: 'Tallyport queues',
        boardLogo: {
          get path() {
            return site.logo.href;
          },
          get width() {
            return site.logo.width;
          },
          get height() {
            return site.logo.height;
          },
        },
        favIcon: {
          get default() {
            return site.logo.href;
          },
          get alternative() {
            return site.logo.href;
          },
        },
        miscLinks: [{ text: 'Admin area', url: adminPath }],
        hideDocsLink: true,
        theme: { light: SYSTEM_FONTS, dark: SYSTEM_FONTS },
      },
      handlerHooks: {
        before: ({ route }) =>
          WRITING_PAYLOADS.has(route)
            ? {
                allow: false,
                message: 'Tallyport creates its own jobs. To send a vote again, run: tallyport vote resend',
              }
            : undefined,
      },
    },
  });
  board.setBasePath(app.prefix);
  // Fastify then asks the site's error handler, so refusals look as everywhere.
  board.setErrorHandler((error) => {
    throw error;
  });

  app.addHook('onRequest', async (_request, reply) => {
    reply.header('content-security-policy', CONTENT_SECURITY_POLICY);
  });
  app.addHook('preHandler', async (request, reply) => {
    // The pattern of the route is compared, because the same path can be written in many ways: `%61pi` is `api`.
    if (!request.routeOptions.url?.startsWith(`${app.prefix}/api/`)) return;
    // Commands would wait in memory and run much later.
    const unavailable = await unavailableQueues(deps, TIMEOUT_MS);
    if (unavailable.length === 0) return auditButton(deps, app.prefix, request);
    return reply
      .code(503)
      .header('retry-after', 5)
      .send({
        error: `${describeUnavailable(unavailable)}.`,
        code: 'queues-unavailable' satisfies ErrorCode,
      });
  });
  app.addHook('onSend', async (_request, reply, payload) =>
    typeof payload === 'string' && String(reply.getHeader('content-type')).startsWith('text/html')
      ? payload.replace(REMOTE_FONTS, '')
      : payload,
  );
  app.addHook('onResponse', async (request, reply) => {
    if (request.method === 'GET' || !isByOperator(deps, request)) return;
    request.log.info({
      event: 'operator.queue_button',
      method: request.method,
      button: request.routeOptions.url,
      of: request.params,
      status: reply.statusCode,
    });
  });
  await app.register(board.registerPlugin());
}

/** Written before the action runs. */
async function auditButton(deps: AppDeps, prefix: string, request: FastifyRequest): Promise<void> {
  if (request.method === 'GET') return;
  const route = (request.routeOptions.url ?? '').slice(prefix.length);
  if (WRITING_PAYLOADS.has(route)) return;
  const params = request.params as Record<string, string>;
  const button = route
    .replace(/^\/api\/queues\/(:queueName\/)?/, '')
    .replace(/:(\w+)/g, (_, name: string) => params[name] ?? '');
  await recordAudit(deps, {
    by: userOf(request).email,
    action: 'queue.button',
    serverId: null,
    details: { button, ...params },
  });
}

const SYSTEM_FONTS = {
  'font-sans': 'system-ui, sans-serif',
  'font-mono': 'ui-monospace, monospace',
};

const WRITING_PAYLOADS = new Set(['/api/queues/:queueName/add', '/api/queues/:queueName/:jobId/update-data']);

function boardQueue({ queues, clock }: AppDeps, name: QueueName, adminPath: string): BullMQAdapter {
  const { title } = QUEUES[name];
  const ofListener = isDeliveryQueue(name);
  const adapter = new BullMQAdapter(queues[name], {
    displayName: title,
    ...(ofListener ? { externalJobUrl: ({ data }) => listenerLink(data, adminPath) } : {}),
  });
  if (ofListener) {
    adapter.setFormatter('name', ({ progress }: { progress?: unknown }) =>
      describeForwarding(progress, title, clock.now()),
    );
  }
  return adapter;
}

function listenerLink(data: unknown, adminPath: string): { displayText: string; href: string } {
  const payload = QUEUES['forward-votes'].payload.safeParse(data);
  if (!payload.success) return { displayText: 'Admin area', href: adminPath };
  return { displayText: 'Listener and its votes', href: `${adminPath}/listeners/${payload.data.listenerId}` };
}

/** What workers write into a forward-votes job. `since` is an ISO 8601 time. */
const progressSchema = z.object({
  server: z.string(),
  waiting: z.number().optional(),
  reason: z.string().optional(),
  since: z.union([z.string(), z.number()]).optional(),
});

const counting = new Intl.NumberFormat('en-GB');
const timeOfDay = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', timeZone: 'UTC' });
const dayAndMonth = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });

/** `alpha: 1,204 votes waiting, connection refused since 14:02 UTC`. Without progress: `title`. */
export function describeForwarding(progress: unknown, title: string, now: Date): string {
  const parsed = progressSchema.safeParse(progress);
  if (!parsed.success) return title;
  const { server, waiting, reason, since } = parsed.data;
  if (waiting === undefined) return `${title}: ${server}`;
  const votes = waiting === 1 ? '1 vote' : `${counting.format(waiting)} votes`;
  const why = reason ? `, ${reason.replaceAll('-', ' ')}` : '';
  return `${server}: ${votes} waiting${why}${describeSince(since, now)}`;
}

function describeSince(since: string | number | undefined, now: Date): string {
  const at = new Date(since ?? Number.NaN);
  if (Number.isNaN(at.getTime())) return '';
  const isToday = Math.floor(at.getTime() / DAY) === Math.floor(now.getTime() / DAY);
  return ` since ${isToday ? '' : `${dayAndMonth.format(at)}, `}${timeOfDay.format(at)} UTC`;
}
