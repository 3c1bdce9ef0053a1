import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { listGames } from '../../../games/games.ts';
import { READ_API_OFF } from '../../../http/error-codes.ts';
import { readListingSummary } from '../../../ranking/read-lists.ts';
import { RANKING_DAYS, RANKS_EVERY_MINUTES } from '../../../votes/ranking-period.ts';
import { READS } from '../open-reads.ts';
import { answer, countSchema, failure, IF_NONE_MATCH, titled, UNCHANGED } from '../schemas.ts';
import { OPEN, READ_FAILURES, READ_HEADERS, type ReadDeps, sendRead } from './read-route.ts';

const games = titled('PublicGames', {
  games: z.array(
    z.object({
      game: z.string().meta({ description: 'The value of the filter `game`.', examples: ['minecraft'] }),
      name: z.string().meta({ examples: ['Minecraft'] }),
      url: z.url().meta({
        description: 'The page with its servers.',
        examples: ['https://listing.example/games/minecraft'],
      }),
      servers: countSchema.meta({ description: 'How many are listed.', examples: [120] }),
    }),
  ),
});

const stats = titled('PublicStats', {
  servers: countSchema.meta({ description: 'How many are listed.', examples: [431] }),
  online_servers: countSchema.meta({ examples: [377] }),
  online_players: countSchema.meta({ description: 'Of all servers that are online.', examples: [5_120] }),
  votes_count: countSchema.describe(`Votes of today and the ${RANKING_DAYS - 1} UTC days before.`),
});

/** GET /api/v1/games and /api/v1/stats: the games with listed servers, and the totals of the home page. */
export const totalsEndpoints: FastifyPluginAsyncZod<ReadDeps> = async (app, read) => {
  const { deps, countRead, site } = read;
  const names = new Map(listGames().map(({ id, name }) => [id, name]));
  const described = (description: string) => ({
    ...OPEN,
    tags: ['listing'],
    description: `${description} Computed with each ranking, every ${RANKS_EVERY_MINUTES} minutes. No token is needed; ${READS.times} calls a minute for a network.`,
    headers: IF_NONE_MATCH,
  });
  const others = {
    304: UNCHANGED,
    ...READ_FAILURES,
    404: failure(404, READ_API_OFF, undefined, ['disabled']),
  } as const;

  app.get(
    '/games',
    {
      schema: {
        ...described('The games with the most servers come first.'),
        operationId: 'listGames',
        summary: 'Read the games with listed servers',
        response: { 200: answer(games, 'The games.', READ_HEADERS), ...others },
      },
    },
    async (request, reply) => {
      await countRead(request, reply);
      const make = async () => {
        const { games: listed } = await readListingSummary(deps);
        const shown = listed.map(({ value: game, servers }) => {
          return { game, name: names.get(game) ?? game, url: `${site}/games/${game}`, servers };
        });
        return { body: { games: shown } };
      };
      return sendRead(request, reply, read, { key: 'games', make });
    },
  );

  app.get(
    '/stats',
    {
      schema: {
        ...described('The totals of the home page.'),
        operationId: 'getStats',
        summary: 'Read the totals of the listing',
        response: { 200: answer(stats, 'The totals.', READ_HEADERS), ...others },
      },
    },
    async (request, reply) => {
      await countRead(request, reply);
      const make = async () => {
        const { servers, online, playing = 0, votes = 0 } = await readListingSummary(deps);
        return { body: { servers, online_servers: online, online_players: playing, votes_count: votes } };
      };
      return sendRead(request, reply, read, { key: 'stats', make });
    },
  );
};
