import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { withinDatabaseTime } from '../../http/database-time.ts';
import type { Clock } from '../../platform/clock.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import { MOST_TOP_VOTERS, topVotersOfMonth } from '../../votes/top-voters.ts';
import { monthOf } from '../../votes/vote-counts.ts';
import { callerOf } from './authentication.ts';
import { tagAnswers } from './etag.ts';
import { publicRecord } from './public-record.ts';
import { queryNumber } from './query-numbers.ts';
import {
  answer,
  COMMON_FAILURES,
  ETAG_HEADER,
  IF_NONE_MATCH,
  params,
  timestamp,
  UNCHANGED,
} from './schemas.ts';

const MONTH = /^(current|previous|20\d\d-(0[1-9]|1[0-2]))$/;

const querystring = z.object({
  month: z
    .string()
    .regex(MONTH, { error: 'must be "current", "previous" or a month such as 2026-11' })
    .default('current')
    .meta({
      description: 'A UTC calendar month: `current`, `previous` or `YYYY-MM`.',
      examples: ['previous'],
    }),
  limit: queryNumber({ most: MOST_TOP_VOTERS, fallback: 10, description: 'The most voters in the list.' }),
});

const voter = z.object({
  username: z.string().meta({ description: 'In the spelling of their newest vote.' }),
  votes: z.int().min(1),
  last_voted_at: timestamp,
});

const list = z
  .object({
    month: z.string().meta({ description: 'The month of the list.', examples: ['2026-11'] }),
    voters: z.array(voter),
  })
  .meta({ title: 'TopVoters' });

function monthNamed(name: string, clock: Clock): string {
  if (name !== 'current' && name !== 'previous') return name;
  const now = clock.now();
  const back = name === 'previous' ? 1 : 0;
  return monthOf(new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - back, 1)));
}

/** GET …/top-voters: the players with the most votes in a month. */
export const topVotersEndpoint: FastifyPluginAsyncZod<{ deps: AppDeps }> = async (app, { deps }) => {
  tagAnswers(app);
  app.get(
    '/top-voters',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'listTopVoters',
        tags: ['votes'],
        summary: 'Read the top voters of a month',
        description:
          'No rate limit. The players with the most votes in a UTC calendar month, without excluded votes. Of equal players, the one whose last vote is older is first. The list may be a minute old.',
        params,
        querystring,
        headers: IF_NONE_MATCH,
        response: { 200: answer(list, 'The top voters.', ETAG_HEADER), 304: UNCHANGED, ...COMMON_FAILURES },
      },
    },
    async (request) => {
      const { serverId } = callerOf(request);
      const { limit } = request.query;
      const month = monthNamed(request.query.month, deps.clock);
      const voters = await withinDatabaseTime(request, topVotersOfMonth(deps, serverId, month, limit));
      return { month, voters: voters.map((one) => publicRecord(voter, one)) };
    },
  );
};
