import type { FastifyRequest } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { type FetchingListener, fetchingListener, noteTake } from '../../delivery/fetch/fetching-listener.ts';
import type { TakenDelivery } from '../../delivery/fetch/take-deliveries.ts';
import { TAKE_LIMITS, type TakeLimit } from '../../delivery/fetch/take-limits.ts';
import { createTakes, type TakeClient, takeOrWait } from '../../delivery/fetch/take-or-wait.ts';
import { requireRightClock } from '../../http/clock-gate.ts';
import { withinDatabaseTime } from '../../http/database-time.ts';
import { RefusedError } from '../../http/http-errors.ts';
import { noteWait } from '../../http/waited.ts';
import { RESENDABLE_DAYS } from '../../listeners/delivery-limits.ts';
import { after, type Clock, SECOND } from '../../platform/clock.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import { resendsOf, timesArrived } from '../../votes/arrival.ts';
import { callerOf, requireTokenStill } from './authentication.ts';
import {
  answer,
  BODY_FAILURES,
  COMMON_FAILURES,
  failure,
  jsonBody,
  params,
  RATE_LIMIT_HEADERS,
  rateLimitHeaders,
  timestamp,
  titled,
  tooEarly,
  tooManyRequests,
} from './schemas.ts';

function whole({ least, most, fallback }: { least: number; most: number; fallback: number }) {
  const error = `must be a whole number, ${least} to ${most}`;
  return z
    .int({ error })
    .min(least, { error })
    .max(most, { error })
    .nullish()
    .transform((value) => value ?? fallback)
    .meta({ default: fallback });
}

const requestIdRule = 'must be 1 to 64 visible ASCII characters';

const takeBody = jsonBody('TakeRequest', {
  max: whole({ least: 1, most: 100, fallback: 20 }).describe(
    'The most votes to take. Fewer come if a vote may be sent only once more: it is handed out as the first one of a take.',
  ),
  wait_seconds: whole({ least: 0, most: 30, fallback: 0 }).describe(
    'If no vote is due, how long to wait for one.',
  ),
  lease_seconds: whole({ least: 10, most: 300, fallback: 60 }).describe(
    'How long the votes are yours. Settle them before it ends.',
  ),
  request_id: z
    .string({ error: requestIdRule })
    .regex(/^[\x21-\x7e]{1,64}$/, { error: requestIdRule })
    .nullish()
    .meta({
      description:
        'If the answer is lost, the same call with the same id returns the same unsettled votes while their leases run, also while the listener is paused.',
      examples: ['9f1c2e7a-41'],
    }),
});

const takenVotes = titled('TakenVotes', {
  deliveries: z
    .array(
      titled('Delivery', {
        vote_id: z.uuid().meta({
          description: 'The id of the vote, the same in every sending.',
          examples: ['01998a3e-7e4b-7000-8000-0123456789ab'],
        }),
        username: z.string().meta({ description: 'As the player typed it, trimmed.', examples: ['Steve'] }),
        voted_at: timestamp,
        service_name: z
          .string()
          .meta({ description: 'The name of the voting site for plugins.', examples: ['Tallyport'] }),
        sending: z.int().min(1).describe('Counts from 1. Over 1 the vote may have arrived before.'),
        resends: z
          .int()
          .min(0)
          .describe(
            'How often the vote was sent again because somebody wanted it once more, such as its owner with “Send again”. If it is higher than when you handed the vote over, hand it over again; otherwise this is a retry.',
          ),
        lease: z
          .string()
          .meta({ description: 'Names this taking; send it with the result.', examples: ['0mA3xQ7bT1'] }),
        lease_seconds_left: z
          .int()
          .min(0)
          .meta({ examples: [60] }),
      }),
    )
    .describe('The oldest vote first; retries and parallel takers may change the order.'),
  paused: z
    .boolean()
    .describe('Whether the owner paused the listener: only a repeated call gets votes then.'),
});

const FETCH_NOT_SET = failure(422, "The server's vote listener is not one that fetches.");

function requireFetching(listener: FetchingListener | null): FetchingListener {
  if (listener) return listener;
  throw new RefusedError({
    status: 422,
    code: 'fetch-not-set',
    sentence: 'This server does not fetch its votes: its owner chooses that under “Vote listener”.',
  });
}

function deliveryOf({ vote, attempt, leaseLeftMs }: TakenDelivery, { serviceName }: FetchingListener) {
  return {
    vote_id: vote._id.toString(),
    username: vote.username,
    voted_at: vote.votedAt.toISOString(),
    service_name: serviceName,
    sending: timesArrived(vote.delivery) + 1,
    resends: resendsOf(vote.delivery),
    lease: attempt.id.toString(),
    lease_seconds_left: Math.floor(leaseLeftMs / SECOND),
  };
}

function tooManyTakes(of: string, nextAt: Date, clock: Clock) {
  return tooManyRequests(`Too many takes of ${of}: the next one`, nextAt, clock);
}

const OF_LIMIT = {
  server: 'this server',
  account: 'all servers of this account',
} as const satisfies Record<TakeLimit['name'], string>;

/** Of two used-up limits, the one that ends last is named. */
function requireAllowed(limits: TakeLimit[], clock: Clock): void {
  const [last] = limits
    .filter(({ isUsedUp }) => isUsedUp)
    .toSorted((a, b) => b.resetAt.getTime() - a.resetAt.getTime());
  if (last) throw tooManyTakes(OF_LIMIT[last.name], last.resetAt, clock);
}

/** A client that has closed only its own side counts as gone too: the connection of a killed program looks the same. */
function clientOf({ raw: { socket } }: FastifyRequest): TakeClient & { release(): void } {
  const left = new AbortController();
  const leave = () => left.abort();
  socket.once('end', leave);
  socket.once('close', leave);
  return {
    left: left.signal,
    hasLeft: () => left.signal.aborted || socket.destroyed || socket.readableEnded,
    release() {
      socket.off('end', leave);
      socket.off('close', leave);
    },
  };
}

/** POST …/deliveries/take: a game server, or a program beside it, takes its votes. */
export const takeEndpoint: FastifyPluginAsyncZod<{ deps: AppDeps }> = async (app, { deps }) => {
  const takes = createTakes(deps);
  // Waiting takes are answered before the server closes, because closing it waits for all requests.
  app.addHook('preClose', async () => takes.waiting.end());
  app.addHook('onClose', async () => takes.waiting.close());
  app.post(
    '/deliveries/take',
    {
      config: { kind: 'deliver', isPolled: true },
      // Before the body is read: a call with a wrong body counts too.
      async onRequest(request, reply) {
        const { serverId, ownerId } = callerOf(request);
        const limits = await withinDatabaseTime(request, takes.limits.count(serverId, ownerId));
        reply.headers(rateLimitHeaders(limits, deps.clock));
        requireAllowed(limits, deps.clock);
      },
      preHandler: requireRightClock(deps),
      schema: {
        operationId: 'takeDeliveries',
        tags: ['deliveries'],
        summary: 'Take votes',
        description: `Takes votes of a server whose owner chose that it fetches them. Each vote is leased to this call: report its result with \`deliveries/done\` before the lease ends; otherwise it may have arrived and is handed out again, up to the number of sendings that the owner allows. Remember the ids of votes with their \`resends\` for ${RESENDABLE_DAYS} days, and do not hand a vote over twice for the same number. Ignore unknown fields.`,
        params,
        body: takeBody,
        response: {
          200: answer(takenVotes, 'The votes; none if none is due.', RATE_LIMIT_HEADERS),
          ...COMMON_FAILURES,
          ...BODY_FAILURES,
          422: FETCH_NOT_SET,
          429: tooEarly(
            'too-many-requests',
            'next_allowed_at',
            'TakeRefused',
            `At most 4 takes of a server wait at once in each web process. In a minute, ${TAKE_LIMITS.server.times.toLocaleString('en')} takes of a server are allowed, and ${TAKE_LIMITS.account.times.toLocaleString('en')} of all servers of an account.`,
          ),
        },
      },
    },
    async (request) => {
      const { serverId } = callerOf(request);
      const { max: most, wait_seconds, lease_seconds, request_id: requestId } = request.body;
      const waitMs = wait_seconds * SECOND;
      const read = async () => requireFetching(await fetchingListener(deps, serverId));
      const note = (listener: FetchingListener) => {
        noteTake(deps, listener, request.headers['user-agent'] ?? '')?.catch((error: unknown) => {
          request.log.warn({ event: 'fetch.not_noted', reason: String(error) });
        });
        return listener;
      };
      const fullMs = waitMs > 0 ? takes.waiting.fullFor(serverId) : 0;
      if (fullMs > 0) throw tooManyTakes('this server wait', after(deps.clock.now(), fullMs), deps.clock);
      // In the same turn as the look above: otherwise any number of calls that arrive together would wait.
      const wait = waitMs > 0 ? takes.waiting.begin(serverId, waitMs) : null;
      const client = clientOf(request);
      try {
        const first = note(await withinDatabaseTime(request, read()));
        const readAgain = async () => {
          try {
            await requireTokenStill(request, deps);
            return note(await read());
          } catch (error) {
            // The token was revoked, the listener changed or the server removed: the server's other takes check that
            // too.
            if (error instanceof RefusedError) takes.waiting.wakeAll(serverId.toHexString());
            throw error;
          }
        };
        const call = { most, leaseMs: lease_seconds * SECOND, requestId: requestId ?? undefined, wait };
        const shared = { ...deps, takes };
        const { taken, listener, waitedMs } = await takeOrWait(shared, first, call, client, readAgain);
        noteWait(request, waitedMs);
        return {
          deliveries: taken.map((one) => deliveryOf(one, listener)),
          paused: Boolean(listener.pause),
        };
      } finally {
        wait?.end();
        client.release();
      }
    },
  );
};
