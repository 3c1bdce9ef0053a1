import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { ObjectId } from 'mongodb';
import { z } from 'zod';
import { GOAL_PERIODS, LONGEST_GOAL_TEXT, MOST_TARGET } from '../../goals/goal.ts';
import { readGoalProgress } from '../../goals/goal-progress.ts';
import { withinDatabaseTime } from '../../http/database-time.ts';
import { RefusedError } from '../../http/http-errors.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import { hasNoToken } from './authentication.ts';
import { tagAnswers } from './etag.ts';
import { type CountRead, READ_REFUSED, READS_HEADERS, WITHOUT_TOKEN } from './open-reads.ts';
import { publicRecord } from './public-record.ts';
import {
  answer,
  COMMON_FAILURES,
  countSchema,
  ETAG_HEADER,
  failure,
  IF_NONE_MATCH,
  params,
  timestamp,
  titled,
  UNCHANGED,
} from './schemas.ts';

const goal = titled('VoteGoal', {
  target: z
    .int()
    .min(1)
    .max(MOST_TARGET)
    .meta({ description: 'The votes that reach the goal.', examples: [500] }),
  period: z
    .enum(GOAL_PERIODS)
    .describe(
      'Whose votes count: of a UTC day, of a week from Monday, of a calendar month, or `rolling`: when the target is reached, the next round begins with the votes that are left over.',
    ),
  votes: countSchema.meta({
    description:
      'Counted votes of the present period, or of the present round of a rolling goal. Of a period, they may pass the target.',
    examples: [488],
  }),
  percentage: z
    .number()
    .min(0)
    .meta({ description: 'Of the target, rounded down to 2 decimals.', examples: [97.6] }),
  text: z
    .string()
    .nullable()
    .meta({
      description: `What happens when it is reached, as the owner wrote it, up to ${LONGEST_GOAL_TEXT} characters.`,
      examples: ['Double experience for an hour'],
    }),
  since: timestamp.describe('When the goal was set: earlier votes do not count.'),
  reached_at: timestamp
    .nullable()
    .describe(
      'When it was last reached, up to about half a minute after the vote. An exclusion of votes does not change it.',
    ),
  times_reached: countSchema.meta({ description: 'Since the goal was set.', examples: [3] }),
});

/** GET …/goal: the vote goal of the server, for everybody while the server is listed. */
export const goalEndpoint: FastifyPluginAsyncZod<{ deps: AppDeps; countRead: CountRead }> = async (
  app,
  { deps, countRead },
) => {
  tagAnswers(app);
  app.get(
    '/goal',
    {
      config: { scope: 'read', isOpen: true },
      async onRequest(request, reply) {
        if (hasNoToken(request)) await withinDatabaseTime(request, countRead(request, reply));
      },
      schema: {
        operationId: 'getVoteGoal',
        tags: ['server'],
        summary: 'Read the vote goal',
        description: WITHOUT_TOKEN,
        security: [{ token: [] }, {}],
        params,
        headers: IF_NONE_MATCH,
        response: {
          200: answer(goal, 'The goal.', { ...ETAG_HEADER, ...READS_HEADERS }),
          304: UNCHANGED,
          ...COMMON_FAILURES,
          404: failure(404, 'The server has no goal.'),
          429: READ_REFUSED,
        },
      },
    },
    async (request) => {
      const found = await withinDatabaseTime(
        request,
        readGoalProgress(deps, new ObjectId(request.params.server_id)),
      );
      if (!found)
        throw new RefusedError({ status: 404, code: 'no-goal', sentence: 'This server has no vote goal.' });
      return publicRecord(goal, found);
    },
  );
};
