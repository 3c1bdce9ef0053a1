import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { readServerInfo } from '../../history/server-info.ts';
import { RefusedError } from '../../process/http-errors.ts';
import type { Platform } from '../../process/platform.ts';
import { callerOf, UNAUTHORIZED } from './authentication.ts';
import { withinDatabaseTime } from './database-time.ts';
import { tagAnswers } from './etag.ts';
import {
  answer,
  COMMON_FAILURES,
  count,
  ETAG_HEADER,
  IF_NONE_MATCH,
  params,
  timestamp,
  UNCHANGED,
} from './schemas.ts';

const figure = z.number().min(0).nullable();

const info = z
  .object({
    name: z.string(),
    slug: z.string().meta({
      description:
        "The server's part of its page's address. It changes with the server's name; an earlier one leads to the present one.",
    }),
    address: z.string().meta({ examples: ['play.example.org'] }),
    connection_port: z
      .int()
      .min(1)
      .max(65_535)
      .meta({ examples: [25_565] }),
    country_code: z.string().meta({ description: 'ISO 3166-1; `ZZ` until known.', examples: ['DE'] }),
    status: z.enum(['online', 'offline', 'unknown']).meta({
      description:
        '`offline` after 3 failed checks in a row; a failed check before the third one changes nothing. `unknown` until the first answer, while no check can be made, and for a server that is known by its reports alone 15 minutes after the last one.',
    }),
    online_players: count.meta({ description: '0 until known and while offline.' }),
    max_players: count.meta({ description: '0 until known, and for "no limit".' }),
    average_players: z
      .number()
      .min(0)
      .meta({ description: 'Over the 7 whole UTC days before today, at most 2 decimals; 0 until known.' }),
    peak_players: count.meta({ description: 'Over the 7 whole UTC days before today; 0 until known.' }),
    latency_ms: figure.meta({
      description: 'Milliseconds, at most 2 decimals; null until known and while not online.',
      examples: [23.5],
    }),
    average_latency: figure.meta({
      description: 'Over the 30 whole UTC days before today, at most 2 decimals; null until known.',
      examples: [25.17],
    }),
    uptime_percentage: figure.meta({
      description: 'Over the 30 whole UTC days before today, at most 2 decimals; null until known.',
      examples: [99.31],
    }),
    motd: z.string().meta({ description: 'Empty until known.' }),
    server_version: z.string().meta({ description: 'Empty until known.' }),
    votes_count: count.meta({ description: 'Today and the 29 UTC days before: what the ranking uses.' }),
    monthly_votes: count.meta({ description: 'The current UTC calendar month.' }),
    all_time_votes: count,
    rank_position: z.int().min(1).meta({ description: 'The last place from the moment of listing.' }),
    is_premium: z.boolean(),
    last_checked_at: timestamp.nullable().meta({
      description:
        'The newest check, a failed one too, or report; null until there was one. After a failed check it is newer than what `status` and the figures rest on.',
    }),
    date_added: timestamp,
  })
  .meta({ title: 'ServerInfo' });

/** GET …/info: the server as the public sees it. */
export const infoEndpoint: FastifyPluginAsyncZod<{ platform: Platform }> = async (app, { platform }) => {
  tagAnswers(app);
  app.get(
    '/info',
    {
      schema: {
        operationId: 'getServerInfo',
        tags: ['server'],
        summary: 'Read the server and its figures',
        description:
          'No rate limit. Strings and counts are never null; only `latency_ms`, `average_latency`, `uptime_percentage` and `last_checked_at` may be. While offline `online_players` is 0 and the rest keep their last value; while unknown all keep it. The vote figures rise with each vote; averages and peaks are computed once a day over whole UTC days.',
        params,
        headers: IF_NONE_MATCH,
        response: { 200: answer(info, 'The server.', ETAG_HEADER), 304: UNCHANGED, ...COMMON_FAILURES },
      },
    },
    async (request) => {
      const { serverId } = callerOf(request);
      const found = await withinDatabaseTime(request, readServerInfo(platform, serverId));
      // Removed since its token was let in, by another process.
      if (!found) throw new RefusedError(UNAUTHORIZED);
      return {
        name: found.name,
        slug: found.slug,
        address: found.address,
        connection_port: found.port,
        country_code: found.countryCode,
        status: found.status,
        online_players: found.onlinePlayers,
        max_players: found.maxPlayers,
        average_players: found.averagePlayers,
        peak_players: found.peakPlayers,
        latency_ms: found.latencyMs,
        average_latency: found.averageLatency,
        uptime_percentage: found.uptimePercentage,
        motd: found.motd,
        server_version: found.version,
        votes_count: found.votesCount,
        monthly_votes: found.monthlyVotes,
        all_time_votes: found.allTimeVotes,
        rank_position: found.rankPosition,
        is_premium: found.isPremium,
        last_checked_at: found.lastCheckedAt?.toISOString() ?? null,
        date_added: found.listedAt.toISOString(),
      };
    },
  );
};
