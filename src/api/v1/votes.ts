import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { withinDatabaseTime } from '../../http/database-time.ts';
import { RefusedError } from '../../http/http-errors.ts';
import type { Clock } from '../../platform/clock.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import { ARRIVALS, arrivalOf } from '../../votes/arrival.ts';
import {
  formatVotesCursor,
  pageOfVotes,
  parseVotesCursor,
  VOTES_A_PAGE,
  type VotesCursor,
} from '../../votes/read-votes.ts';
import { MOST_TOP_VOTERS, topVotersOfMonth } from '../../votes/top-voters.ts';
import { USERNAME_BOUNDS, usernameSchema } from '../../votes/username.ts';
import { DELIVERY_STATES, IDENTITIES, VOTE_SOURCES } from '../../votes/vote.ts';
import { monthOf } from '../../votes/vote-counts.ts';
import { callerOf } from './authentication.ts';
import { tagAnswers } from './etag.ts';
import { publicRecord } from './public-record.ts';
import {
  answer,
  COMMON_FAILURES,
  ETAG_HEADER,
  IF_NONE_MATCH,
  params,
  timestamp,
  titled,
  UNCHANGED,
} from './schemas.ts';

/** An empty or absent parameter counts as `fallback`. Any other text is refused. */
function queryNumber({
  most,
  fallback,
  description,
}: {
  most: number;
  fallback: number;
  description: string;
}) {
  const error = `must be a whole number, 1 to ${most}`;
  return z
    .string({ error })
    .regex(/^\d{0,15}$/, { error, abort: true })
    .transform((digits) => (digits === '' ? fallback : Number(digits)))
    .refine((value) => value >= 1 && value <= most, { error })
    .optional()
    .transform((value) => value ?? fallback)
    .meta({ type: 'integer', minimum: 1, maximum: most, default: fallback, description });
}

const MOST_PER_PAGE = 100;
const MALFORMED_CURSOR = 'cursor must be a next_cursor of the same list';

const querystring = z.object({
  limit: queryNumber({ most: MOST_PER_PAGE, fallback: VOTES_A_PAGE, description: 'Votes per page.' }),
  cursor: z
    .string()
    .max(50, { error: MALFORMED_CURSOR })
    .optional()
    .describe('The `next_cursor` of the page before. Without it, the newest votes.'),
  username: usernameSchema.optional().meta({
    description:
      "Only this player's votes; the same rules as for casting a vote. Imported votes come after the others.",
    ...USERNAME_BOUNDS,
    examples: ['Steve'],
  }),
});

const page = titled('VotePage', {
  votes: z.array(
    z.object({
      id: z.uuid().meta({
        description: 'The `Vote-Id` of the vote (UUIDv7).',
        examples: ['01998a3e-7e4b-7000-8000-0123456789ab'],
      }),
      username: z.string().meta({ description: 'As the player typed it, trimmed.', examples: ['Steve'] }),
      voted_at: timestamp,
      source: z
        .enum(VOTE_SOURCES)
        .describe("`api`: cast by a call of this API. `web`: cast on the server's vote page."),
      identity: z
        .enum(IDENTITIES)
        .nullable()
        .describe(
          '`proven`: the player signed in through Steam on the vote page, so the SteamID is theirs. null: not proven.',
        ),
      delivery: z
        .enum(DELIVERY_STATES)
        .describe(
          '`none`: not forwarded. `waiting`: not sent yet. `sending`: an attempt runs. `delivered`: acknowledged. `unconfirmed`: sent, and it may have arrived. `failed`: refused by the listener, or not delivered in time.',
        ),
      arrival: z
        .enum(ARRIVALS)
        .describe(
          'What is known of the arrival at the game server, from all sendings. A resend or the removal of the listener never changes `arrived` to something less.',
        ),
      excluded: z.boolean().describe('Whether the vote was removed from all counts.'),
    }),
  ),
  next_cursor: z
    .string()
    .nullable()
    .meta({ description: 'Where the next page begins; null on the last page.', examples: [null] }),
});

/** Throws 400 for a wrong cursor, such as a cursor of all votes in the list of one player. */
function positionOf(cursor: string, ofPlayer: boolean): VotesCursor {
  const from = parseVotesCursor(Buffer.from(cursor, 'base64url').toString());
  if (!from || 'seq' in from !== ofPlayer)
    throw new RefusedError({ status: 400, code: 'malformed', sentence: `${MALFORMED_CURSOR}.` });
  return from;
}

/** GET …/votes: the votes of the server, newest first. */
export const votesEndpoint: FastifyPluginAsyncZod<{ deps: AppDeps }> = async (app, { deps }) => {
  app.get(
    '/votes',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'listVotes',
        tags: ['votes'],
        summary: "Read the server's votes",
        description:
          'No rate limit. Newest first. A page begins at a moment, so votes that are cast meanwhile do not shift the pages.',
        params,
        querystring,
        response: { 200: answer(page, 'One page of votes.'), ...COMMON_FAILURES },
      },
    },
    async (request) => {
      const { serverId } = callerOf(request);
      const { limit, cursor, username } = request.query;
      const from = cursor === undefined ? undefined : positionOf(cursor, username !== undefined);
      const found = await withinDatabaseTime(
        request,
        pageOfVotes(deps, serverId, { player: username, limit }, from),
      );
      return {
        votes: found.votes.map(({ _id, username, votedAt, source, identity, delivery, excludedAt }) => ({
          id: _id.toString(),
          username,
          voted_at: votedAt.toISOString(),
          source: source ?? ('api' as const),
          identity: identity ?? null,
          delivery: delivery.state,
          arrival: arrivalOf(delivery),
          excluded: excludedAt != null,
        })),
        next_cursor: found.next && Buffer.from(formatVotesCursor(found.next)).toString('base64url'),
      };
    },
  );
};

const MONTH = /^(current|previous|20\d\d-(0[1-9]|1[0-2]))$/;

const votersQuery = z.object({
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
  username: z.string().meta({ description: 'In the spelling of their newest vote.', examples: ['Steve'] }),
  votes: z
    .int()
    .min(1)
    .meta({ examples: [28] }),
  last_voted_at: timestamp,
});

const topVoters = titled('TopVoters', {
  month: z.string().meta({ description: 'The month of the list.', examples: ['2026-11'] }),
  voters: z.array(voter),
});

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
        querystring: votersQuery,
        headers: IF_NONE_MATCH,
        response: {
          200: answer(topVoters, 'The top voters.', ETAG_HEADER),
          304: UNCHANGED,
          ...COMMON_FAILURES,
        },
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
