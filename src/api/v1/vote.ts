import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { requireRightClock } from '../../http/clock-gate.ts';
import { databaseTimeLeft } from '../../http/database-time.ts';
import { type Refusal, RefusedError, unavailable } from '../../http/http-errors.ts';
import { noteResult } from '../../http/requests.ts';
import { HOUR } from '../../platform/clock.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import type { Metrics } from '../../process/metrics.ts';
import { CastDeadline } from '../../votes/cast/cast-deadline.ts';
import { castVoteFromApi, type VoteAnswer } from '../../votes/cast/cast-from-api.ts';
import { KEY_LIFETIME_MS, type KeyReused } from '../../votes/cast/cast-once.ts';
import type { Refused } from '../../votes/cast/cast-vote.ts';
import { COOLDOWN_HOURS, COOLDOWN_MS } from '../../votes/cast/cooldown.ts';
import { VoteResultUnknownError } from '../../votes/cast/insert-vote.ts';
import { LONGEST_USERNAME } from '../../votes/username.ts';
import { callerOf } from './authentication.ts';
import {
  answer,
  BODY_FAILURES,
  COMMON_FAILURES,
  countSchema,
  failure,
  jsonBody,
  onceHeaders,
  params,
  RATE_LIMIT_HEADERS,
  REPLAYED_HEADER,
  secondsUntil,
  timestamp,
  titled,
  tooEarly,
  usernameField,
} from './schemas.ts';

const body = jsonBody('VoteRequest', {
  username: usernameField(
    `The player's name: 1 to ${LONGEST_USERNAME} characters (Unicode code points) after surrounding white space is removed, without control characters (a line feed would forge a field of the forwarded vote). It is stored and forwarded as typed. Two spellings are the same player if they are equal after Unicode NFKC, full case folding, removal of default-ignorable characters and collapsing of white space. A name that is empty after that is refused. The dotless \`ı\` and \`i\` are the same letter, since both are \`I\` in capitals. \`İ\` is an \`i\` with a combining dot (U+0307), so a name with it and a name with a plain \`i\` are two players.`,
  ),
});

export const idempotencyKeyHeader = z
  .string()
  .regex(/^[\x21-\x7e]{1,255}$/, 'Idempotency-Key must be 1 to 255 visible ASCII characters, given once')
  .optional()
  .describe(
    `For ${KEY_LIFETIME_MS / HOUR} hours a request with the same key and username replays the first 200 response byte for byte and changes nothing, also while the first request is still running. With another username the response is 422. A 429 or an error releases the key. Keys are per server and have 1 to 255 visible ASCII characters.`,
  );

const accepted = titled('VoteAccepted', {
  success: z.literal(true),
  monthly_votes: countSchema.meta({
    description: 'Votes of this server in the current UTC calendar month, this one included.',
    examples: [1204],
  }),
  next_vote_at: timestamp.describe('When this player may vote for this server again.'),
}) satisfies z.ZodType<VoteAnswer>;

const RESULT_UNKNOWN =
  'The vote may have been counted: ask check-vote, or repeat with the same Idempotency-Key.';

/** Names the player as the earlier vote spells it. */
function cooldownRefusal({ vote, nextVoteAt }: Refused, { clock }: AppDeps): Refusal {
  const next = nextVoteAt.toISOString();
  return {
    status: 429,
    code: 'cooldown',
    sentence: `"${vote.username}" voted for this server at ${vote.votedAt.toISOString()}: the next vote is allowed at ${next}.`,
    headers: {
      'retry-after': String(secondsUntil(nextVoteAt, clock)),
      ...onceHeaders('vote', COOLDOWN_MS, nextVoteAt, clock),
    },
    fields: { next_vote_at: next },
  };
}

export function keyReusedRefusal({ username }: Pick<KeyReused, 'username'>): Refusal {
  return {
    status: 422,
    code: 'idempotency-key-reused',
    sentence: `This Idempotency-Key was used for the username "${username}": use a new key for each vote.`,
  };
}

type Parts = { deps: AppDeps; metrics: Metrics };

/** POST …/vote: casts a vote. */
export const voteEndpoint: FastifyPluginAsyncZod<Parts> = async (app, { deps, metrics }) => {
  app.post(
    '/vote',
    {
      preHandler: requireRightClock(deps),
      config: { scope: 'vote', isRefusedInPause: true },
      schema: {
        operationId: 'castVote',
        tags: ['votes'],
        summary: 'Cast a vote',
        description: `Accepts one vote per server and player in any rolling ${COOLDOWN_HOURS} hours, also for concurrent requests. An accepted vote is durable. If the server has a vote listener, the vote is then forwarded to it; an unreachable listener never makes this call fail or wait. If the result of the write is unknown, the response is a 503 that says so: call check-vote, or repeat the request with the same \`Idempotency-Key\`. While the owner has paused the listing, every vote is 403 \`listing-paused\`, also a repeated one.`,
        params,
        headers: z.looseObject({ 'idempotency-key': idempotencyKeyHeader }),
        body,
        response: {
          200: answer(accepted, 'The vote was accepted and is durable.', {
            'Vote-Id': {
              type: 'string',
              format: 'uuid',
              description: "The vote's id (UUIDv7): the same that the owner sees and the listener receives.",
            },
            ...REPLAYED_HEADER,
            ...RATE_LIMIT_HEADERS,
          }),
          ...COMMON_FAILURES,
          403: failure(
            403,
            'The token is valid, but lacks the scope that the call needs, or the owner has paused the listing of the server.',
            {
              'WWW-Authenticate': {
                type: 'string',
                description: 'Only with `scope-missing`: `Bearer error="insufficient_scope"`.',
              },
            },
          ),
          ...BODY_FAILURES,
          422: failure(422, 'This Idempotency-Key was used with another username.'),
          429: tooEarly(
            'cooldown',
            'next_vote_at',
            'VoteRefused',
            `This player voted for this server in the last ${COOLDOWN_HOURS} hours.`,
          ),
        },
      },
    },
    async (request, reply) => {
      const { serverId, token } = callerOf(request);
      const vote = {
        serverId,
        username: request.body.username,
        tokenId: token._id,
        key: request.headers['idempotency-key'],
      };
      const deadline = new CastDeadline(databaseTimeLeft(request));
      const result = await castVoteFromApi(deps, vote, deadline).catch((error: unknown) => {
        if (!(error instanceof VoteResultUnknownError)) throw error;
        metrics.count('tallyport_votes_total', { result: 'unknown' });
        request.log.warn({
          event: 'vote.end_unknown',
          serverId: serverId.toHexString(),
          reason: String(error.cause ?? error),
        });
        throw new RefusedError(unavailable('result-unknown', RESULT_UNKNOWN));
      });
      if (result.kind === 'key-reused') throw new RefusedError(keyReusedRefusal(result));
      if (result.kind === 'refused') {
        metrics.count('tallyport_votes_total', { result: 'refused' });
        throw new RefusedError(cooldownRefusal(result, deps));
      }
      const { nextVoteAt, body, replayed } = result;
      const voteId = result.voteId.toString();
      metrics.count('tallyport_votes_total', { result: replayed ? 'replayed' : 'accepted' });
      const event = replayed ? 'vote.replayed' : 'vote.accepted';
      noteResult(request, reply, { event, serverId: serverId.toHexString(), voteId });
      return (
        reply
          .headers({
            'vote-id': voteId,
            ...(replayed ? { 'idempotent-replayed': 'true' } : {}),
            ...onceHeaders('vote', COOLDOWN_MS, nextVoteAt, deps.clock),
          })
          .type('application/json; charset=utf-8')
          // The stored string is sent unchanged, so a repeated request gets exactly the first answer.
          .send(body as never)
      );
    },
  );
};
