import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { withinDatabaseTime } from '../../http/database-time.ts';
import { RefusedError } from '../../http/http-errors.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import { ARRIVALS, arrivalOf } from '../../votes/arrival.ts';
import {
  formatVotesCursor,
  pageOfVotes,
  parseVotesCursor,
  VOTES_A_PAGE,
  type VotesCursor,
} from '../../votes/read-votes.ts';
import { USERNAME_BOUNDS, usernameSchema } from '../../votes/username.ts';
import { DELIVERY_STATES, IDENTITIES, VOTE_SOURCES } from '../../votes/vote.ts';
import { callerOf } from './authentication.ts';
import { queryNumber } from './query-numbers.ts';
import { answer, COMMON_FAILURES, params, timestamp } from './schemas.ts';

const MOST_PER_PAGE = 100;
const MALFORMED_CURSOR = 'cursor must be a next_cursor of the same list';

const querystring = z.object({
  limit: queryNumber({ most: MOST_PER_PAGE, fallback: VOTES_A_PAGE, description: 'Votes per page.' }),
  cursor: z
    .string()
    .max(50, { error: MALFORMED_CURSOR })
    .optional()
    .meta({ description: 'The `next_cursor` of the page before. Without it, the newest votes.' }),
  username: usernameSchema.optional().meta({
    description:
      "Only this player's votes; the same rules as for casting a vote. Imported votes come after the others.",
    ...USERNAME_BOUNDS,
    examples: ['Steve'],
  }),
});

const page = z
  .object({
    votes: z.array(
      z.object({
        id: z.uuid().meta({ description: 'The `Vote-Id` of the vote (UUIDv7).' }),
        username: z.string().meta({ description: 'As the player typed it, trimmed.' }),
        voted_at: timestamp,
        source: z.enum(VOTE_SOURCES).meta({
          description: "`api`: cast by a call of this API. `web`: cast on the server's vote page.",
        }),
        identity: z.enum(IDENTITIES).nullable().meta({
          description:
            '`proven`: the player signed in through Steam on the vote page, so the SteamID is theirs. null: not proven.',
        }),
        delivery: z.enum(DELIVERY_STATES).meta({
          description:
            '`none`: not forwarded. `waiting`: not sent yet. `sending`: an attempt runs. `delivered`: acknowledged. `unconfirmed`: sent, and it may have arrived. `failed`: refused by the listener, or not delivered in time.',
        }),
        arrival: z.enum(ARRIVALS).meta({
          description:
            'What is known of the arrival at the game server, from all sendings. A resend or the removal of the listener never changes `arrived` to something less.',
        }),
        excluded: z.boolean().meta({ description: 'Whether the vote was removed from all counts.' }),
      }),
    ),
    next_cursor: z
      .string()
      .nullable()
      .meta({ description: 'Where the next page begins; null on the last page.' }),
  })
  .meta({ title: 'VotePage' });

/** Decodes a cursor. Throws 400 for a wrong one, such as a cursor of all votes in the list of one player. */
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
