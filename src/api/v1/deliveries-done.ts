import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { UUID } from 'mongodb';
import { z } from 'zod';
import { settleDeliveries, TAKER_OUTCOMES } from '../../delivery/fetch/settle-deliveries.ts';
import { requireRightClock } from '../../http/clock-gate.ts';
import { withinDatabaseTime } from '../../http/database-time.ts';
import { DONE_KIB, DONE_LIMIT } from '../../http/request-limits.ts';
import { text } from '../../platform/text.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import { countAttempt, type Metrics } from '../../process/metrics.ts';
import { callerOf } from './authentication.ts';
import { answer, BODY_FAILURES, COMMON_FAILURES, failure, jsonBody, params, titled } from './schemas.ts';

const voteId = z.uuid({ error: 'must have a vote_id that is a UUID' });

const resultsRule = 'must be a list of 1 to 100 results';
const leaseRule = 'must have a lease as it was answered';

const result = z
  .object(
    {
      vote_id: voteId,
      lease: z.string({ error: leaseRule }).min(1, { error: leaseRule }).max(64, { error: leaseRule }),
      outcome: z
        .enum(TAKER_OUTCOMES, { error: `must have an outcome: ${TAKER_OUTCOMES.join(', ')}` })
        .describe(
          '`delivered`: the game server has it. `sent`: it was handed to a plugin that confirms nothing. `unknown`: it may have been handed over. `retry`: it was not handed over and comes again by the schedule. `failed`: never again.',
        ),
      reason: text({ max: 200 }).nullish().describe("For the owner, in the vote's timeline."),
    },
    { error: 'must contain JSON objects' },
  )
  .meta({ title: 'DeliveryResult' });

const doneBody = jsonBody('SettleRequest', {
  results: z
    .array(result, { error: resultsRule })
    .min(1, { error: resultsRule })
    .max(100, { error: resultsRule })
    .refine(
      (results) => new Set(results.map(({ vote_id: id }) => id.toLowerCase())).size === results.length,
      {
        error: 'must have each vote_id only once',
      },
    ),
});

const settledVotes = titled('SettledVotes', {
  settled: z.array(z.uuid()).describe('Votes whose result is recorded, now or by an earlier call.'),
  refused: z.array(
    titled('RefusedResult', {
      vote_id: z.uuid().meta({ examples: ['01998a3e-7e4b-7000-8000-0123456789ab'] }),
      code: z
        .enum(['lease-ended', 'unknown-vote', 'settled-differently'])
        .describe(
          '`lease-ended`: the vote may be with another taker. `unknown-vote`: this server has no such vote. `settled-differently`: this taking has another result.',
        ),
    }),
  ),
  fetching: z
    .boolean()
    .describe('Whether the server fetches its votes: if not, `deliveries/take` answers 422 `fetch-not-set`.'),
  paused: z.boolean().describe('Whether the owner paused the listener.'),
});

type Parts = { deps: AppDeps; metrics: Metrics };

/** POST …/deliveries/done: settles taken votes. A game server says what became of each vote. */
export const doneEndpoint: FastifyPluginAsyncZod<Parts> = async (app, { deps, metrics }) => {
  app.post(
    '/deliveries/done',
    {
      config: { kind: 'deliver' },
      bodyLimit: DONE_LIMIT,
      preHandler: requireRightClock(deps),
      schema: {
        operationId: 'settleDeliveries',
        tags: ['deliveries'],
        summary: 'Settle taken votes',
        description: `Records what became of taken votes. Each result is independent; the same result again is settled. A \`delivered\` or \`sent\` that comes after its lease ended is recorded all the same. The body may have up to ${DONE_KIB} KiB.`,
        params,
        body: doneBody,
        response: {
          200: answer(settledVotes, 'Which results were recorded.'),
          ...COMMON_FAILURES,
          ...BODY_FAILURES,
          413: failure(413, `The body is larger than ${DONE_KIB} KiB.`),
        },
      },
    },
    async (request) => {
      const { serverId } = callerOf(request);
      const results = request.body.results.map(({ vote_id, reason, ...rest }) => ({
        ...rest,
        reason: reason ?? undefined,
        voteId: new UUID(vote_id),
      }));
      const { settled, refused, ended, fetching, paused } = await withinDatabaseTime(
        request,
        settleDeliveries(deps, serverId, results),
      );
      for (const one of ended) countAttempt(metrics, one, one.endedAt);
      return {
        settled: settled.map((id) => id.toString()),
        refused: refused.map(({ voteId: id, code }) => ({ vote_id: id.toString(), code })),
        fetching,
        paused,
      };
    },
  );
};
