import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { requireRightClock } from '../../http/clock-gate.ts';
import { withinDatabaseTime } from '../../http/database-time.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import { COOLDOWN_HOURS, checkVote } from '../../votes/cast/cooldown.ts';
import { CLAIM_CALLS, type ClaimCalls } from '../../votes/claims/claim-calls.ts';
import { USERNAME_BOUNDS, usernameSchema } from '../../votes/username.ts';
import { limitClaimKey } from '../claims/too-many-calls.ts';
import { callerOf } from './authentication.ts';
import { publicRecord } from './public-record.ts';
import { answer, CLAIM_KEY_LIMIT, COMMON_FAILURES, params, timestamp } from './schemas.ts';

const querystring = z.object({
  username: usernameSchema.meta({
    description: "The player's name, URL-encoded, given once; the same rules as for casting a vote.",
    ...USERNAME_BOUNDS,
    examples: ['Steve'],
  }),
});

const checked = z
  .object({
    has_voted: z
      .boolean()
      .meta({ description: `Whether this player voted in the last ${COOLDOWN_HOURS} hours.` }),
    voted_at: timestamp
      .nullable()
      .meta({ description: 'When the player voted; null if `has_voted` is false.' }),
    next_vote_at: timestamp
      .nullable()
      .meta({ description: 'When the next vote is allowed; null if `has_voted` is false.' }),
  })
  .meta({ title: 'VoteCheck' });

/** GET …/check-vote: whether a player is in the cooldown. */
export const checkVoteEndpoint: FastifyPluginAsyncZod<{ deps: AppDeps; claimCalls: ClaimCalls }> = async (
  app,
  { deps, claimCalls },
) => {
  app.get(
    '/check-vote',
    {
      config: { scope: 'read', allowsClaimKeys: true },
      preHandler: requireRightClock(deps),
      schema: {
        operationId: 'checkVote',
        tags: ['votes'],
        summary: 'Check whether a player has voted',
        description: `No rate limit for API tokens. A claim key is accepted as well, for ${CLAIM_CALLS.times.toLocaleString('en')} calls a minute.`,
        params,
        querystring,
        response: {
          200: answer(checked, 'Whether the player has voted.'),
          ...COMMON_FAILURES,
          429: CLAIM_KEY_LIMIT,
        },
      },
    },
    async (request) => {
      const { serverId } = callerOf(request);
      limitClaimKey({ ...deps, claimCalls }, callerOf(request));
      const check = await withinDatabaseTime(request, checkVote(deps, serverId, request.query.username));
      return publicRecord(checked, check);
    },
  );
};
