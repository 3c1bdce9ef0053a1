import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { NAME_KINDS, NAME_RULES, nameKindOfServer } from '../../games/player-names.ts';
import { REPORT_VALID_MS } from '../../history/current-status.ts';
import { readServerInfo } from '../../history/server-info.ts';
import { withinDatabaseTime } from '../../http/database-time.ts';
import { RefusedError } from '../../http/http-errors.ts';
import { MINUTE } from '../../platform/clock.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import { serverLoader } from '../../servers/server-loader.ts';
import { nameOptionsOf } from '../../votes/identity/player-name.ts';
import { needsProvenId } from '../../votes/identity/steam-players.ts';
import { RANKING_DAYS, RANKS_EVERY_MINUTES } from '../../votes/ranking-period.ts';
import { LONGEST_USERNAME } from '../../votes/username.ts';
import { callerOf, UNAUTHORIZED } from './authentication.ts';
import { tagAnswers } from './etag.ts';
import { publicRecord } from './public-record.ts';
import {
  answer,
  COMMON_FAILURES,
  countSchema,
  ETAG_HEADER,
  IF_NONE_MATCH,
  params,
  portSchema,
  timestamp,
  titled,
  UNCHANGED,
} from './schemas.ts';

const figure = z.number().min(0).nullable();

const info = titled('ServerInfo', {
  name: z.string().meta({ examples: ['Harbour Lights'] }),
  slug: z
    .string()
    .describe(
      "The server's part of its page's address. It changes with the server's name; an old slug redirects to the current one.",
    ),
  address: z.string().meta({ examples: ['play.example.org'] }),
  connection_port: portSchema,
  country_code: z.string().meta({ description: 'ISO 3166-1 code; `ZZ` if unknown.', examples: ['DE'] }),
  status: z
    .enum(['online', 'offline', 'unknown'])
    .describe(
      `\`offline\` after 3 failed checks in a row; the first and second failed check change nothing. \`unknown\` before the first answer, while no check can be made, and ${REPORT_VALID_MS / MINUTE} minutes after the last report of a server that has only reports.`,
    ),
  online_players: countSchema.meta({ description: '0 while unknown or offline.', examples: [42] }),
  max_players: countSchema.meta({ description: '0 if unknown, and for "no limit".', examples: [120] }),
  average_players: z
    .number()
    .min(0)
    .describe('Over the 7 full UTC days before today, at most 2 decimals; 0 if unknown.'),
  peak_players: countSchema.meta({
    description: 'Over the 7 full UTC days before today; 0 if unknown.',
    examples: [97],
  }),
  latency_ms: figure.meta({
    description: 'Milliseconds, at most 2 decimals; null if unknown or not online.',
    examples: [23.5],
  }),
  average_latency: figure.meta({
    description: 'Over the 30 full UTC days before today, at most 2 decimals; null if unknown.',
    examples: [25.17],
  }),
  uptime_percentage: figure.meta({
    description: 'Over the 30 full UTC days before today, at most 2 decimals; null if unknown.',
    examples: [99.31],
  }),
  motd: z.string().meta({ description: 'Empty if unknown.', examples: ['Survival since 2014'] }),
  server_version: z.string().meta({ description: 'Empty if unknown.', examples: ['Paper 1.21.4'] }),
  votes_count: countSchema.describe(
    `Votes of today and the ${RANKING_DAYS - 1} UTC days before. The ranking uses what these votes weigh, which may be less.`,
  ),
  monthly_votes: countSchema.describe(
    'Votes of the current UTC calendar month. The ranking does not use this number.',
  ),
  all_time_votes: countSchema,
  rank_position: z
    .int()
    .min(1)
    .describe(
      `By what the votes of ${RANKING_DAYS} days weigh, every ${RANKS_EVERY_MINUTES} minutes. A new server has the last rank.`,
    ),
  is_premium: z.boolean(),
  last_checked_at: timestamp
    .nullable()
    .describe(
      'The time of the newest check or report, including failed checks; null before the first one. After a failed check it is newer than the data behind `status` and the figures.',
    ),
  date_added: timestamp,
});

const names = titled('PlayerNames', {
  kind: z.enum(NAME_KINDS).meta({
    description: NAME_KINDS.map((kind) => `\`${kind}\`: ${NAME_RULES[kind].names}.`).join(' '),
  }),
  bedrock_prefix: z
    .string()
    .nullable()
    .meta({
      description:
        'What names of Bedrock Edition begin with, such as Floodgate’s `username-prefix`; empty if the vote form takes none. null if `kind` is not `minecraft`.',
      examples: ['.'],
    }),
  bedrock_without_prefix: z
    .boolean()
    .describe('Whether names of Bedrock Edition have no prefix; `bedrock_prefix` is then empty.'),
  bedrock_spaces: z.boolean().describe('Whether names of Bedrock Edition keep their spaces.'),
  offline_mode: z
    .boolean()
    .describe('Whether the vote form takes names of 1 to 16 letters, digits, `_`, `.` and `-`.'),
  proven_only: z.boolean().describe('Whether the vote form takes only SteamIDs that Steam confirmed.'),
});

const namedServers = serverLoader({
  game: 1,
  bedrockPrefix: 1,
  playerNames: 1,
  'second.address': 1,
  provenIdOnly: 1,
  removedAt: 1,
});

/** GET …/info: the public data of the server. GET …/player-names: which names its vote form takes. */
export const infoEndpoints: FastifyPluginAsyncZod<{ deps: AppDeps }> = async (app, { deps }) => {
  tagAnswers(app);
  app.get(
    '/info',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'getServerInfo',
        tags: ['server'],
        summary: 'Read the server and its figures',
        description:
          'No rate limit. Only `latency_ms`, `average_latency`, `uptime_percentage` and `last_checked_at` may be null. While the status is offline, `online_players` is 0 and the other fields keep their last value; while it is unknown, all keep it. The vote figures change with each vote; averages and peaks are computed once a day over full UTC days.',
        params,
        headers: IF_NONE_MATCH,
        response: { 200: answer(info, 'The server.', ETAG_HEADER), 304: UNCHANGED, ...COMMON_FAILURES },
      },
    },
    async (request) => {
      const { serverId } = callerOf(request);
      const found = await withinDatabaseTime(request, readServerInfo(deps, serverId));
      // `found` is null if another process removed the server after the token was authenticated.
      if (!found) throw new RefusedError(UNAUTHORIZED);
      const { port: connectionPort, version: serverVersion, listedAt: dateAdded } = found;
      return publicRecord(info, { ...found, connectionPort, serverVersion, dateAdded });
    },
  );
  app.get(
    '/player-names',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'getPlayerNames',
        tags: ['server'],
        summary: 'Read which names of players the vote form takes',
        description: `No rate limit. Votes of the API are not affected: \`username\` of \`POST …/vote\` is any name of 1 to ${LONGEST_USERNAME} characters.`,
        params,
        headers: IF_NONE_MATCH,
        response: { 200: answer(names, 'The names.', ETAG_HEADER), 304: UNCHANGED, ...COMMON_FAILURES },
      },
    },
    async (request) => {
      const { serverId } = callerOf(request);
      const found = await withinDatabaseTime(
        request,
        deps.batcher.load(namedServers, deps.servers, serverId),
      );
      if (!found || found.removedAt) throw new RefusedError(UNAUTHORIZED);
      const kind = nameKindOfServer(found);
      const isJava = kind === 'minecraft';
      const options = nameOptionsOf(found);
      return {
        kind,
        bedrock_prefix: isJava ? (options.bedrockPlain ? '' : options.bedrockPrefix) : null,
        bedrock_without_prefix: isJava && options.bedrockPlain === true,
        bedrock_spaces: isJava && options.bedrockSpaces === true,
        offline_mode: isJava && options.offlineMode === true,
        proven_only: needsProvenId(deps.config, found),
      };
    },
  );
};
