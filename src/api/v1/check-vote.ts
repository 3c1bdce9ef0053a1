import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { requireRightClock } from '../../http/clock-gate.ts';
import { withinDatabaseTime } from '../../http/database-time.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import { checkVote } from '../../votes/cast/cooldown.ts';
import { USERNAME_BOUNDS, usernameSchema } from '../../votes/username.ts';
import { callerOf } from './authentication.ts';
import { answer, COMMON_FAILURES, params, timestamp } from './schemas.ts';

const querystring = z.object({
  username: usernameSchema.meta({
    description: "The player's name, URL-encoded, given once; the same rules as for casting a vote.",
    ...USERNAME_BOUNDS,
    examples: ['Steve'],
  }),
});

const checked = z
  .object({
    has_voted: z.boolean().meta({ description: 'Whether this player voted in the last 24 hours.' }),
    voted_at: timestamp
      .nullable()
      .meta({ description: 'When the player voted; null if `has_voted` is false.' }),
    next_vote_at: timestamp
      .nullable()
      .meta({ description: 'When the next vote is allowed; null if `has_voted` is false.' }),
  })
  .meta({ title: 'VoteCheck' });

/** GET …/check-vote: whether a player voted in the last 24 hours. */
export const checkVoteEndpoint: FastifyPluginAsyncZod<{ deps: AppDeps }> = async (app, { deps }) => {
  app.get(
    '/check-vote',
    {
      config: { scope: 'read', allowsClaimKeys: true },
      preHandler: requireRightClock(deps),
      schema: {
        operationId: 'checkVote',
        tags: ['votes'],
        summary: 'Check whether a player has voted',
        description: 'No rate limit. A claim key is accepted as well.',
        params,
        querystring,
        response: { 200: answer(checked, 'Whether the player has voted.'), ...COMMON_FAILURES },
      },
    },
    async (request) => {
      const { serverId } = callerOf(request);
      const check = await withinDatabaseTime(request, checkVote(deps, serverId, request.query.username));
      return {
        has_voted: check.hasVoted,
        voted_at: check.votedAt?.toISOString() ?? null,
        next_vote_at: check.nextVoteAt?.toISOString() ?? null,
      };
    },
  );
};
