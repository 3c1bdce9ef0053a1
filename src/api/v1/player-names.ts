import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { NAME_KINDS, NAME_RULES, nameKindOf } from '../../games/player-names.ts';
import { withinDatabaseTime } from '../../http/database-time.ts';
import { RefusedError } from '../../http/http-errors.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import { serverLoader } from '../../servers/server-loader.ts';
import { nameOptionsOf } from '../../votes/identity/player-name.ts';
import { needsProvenId } from '../../votes/identity/steam-players.ts';
import { LONGEST_USERNAME } from '../../votes/username.ts';
import { callerOf, UNAUTHORIZED } from './authentication.ts';
import { tagAnswers } from './etag.ts';
import { answer, COMMON_FAILURES, ETAG_HEADER, IF_NONE_MATCH, params, UNCHANGED } from './schemas.ts';

const names = z
  .object({
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
    bedrock_without_prefix: z.boolean().meta({
      description: 'Whether names of Bedrock Edition have no prefix; `bedrock_prefix` is then empty.',
    }),
    bedrock_spaces: z.boolean().meta({ description: 'Whether names of Bedrock Edition keep their spaces.' }),
    offline_mode: z.boolean().meta({
      description: 'Whether the vote form takes names of 1 to 16 letters, digits, `_`, `.` and `-`.',
    }),
    proven_only: z.boolean().meta({
      description: 'Whether the vote form takes only SteamIDs that Steam confirmed.',
    }),
  })
  .meta({ title: 'PlayerNames' });

const namedServers = serverLoader({
  game: 1,
  bedrockPrefix: 1,
  playerNames: 1,
  provenIdOnly: 1,
  removedAt: 1,
});

/** GET …/player-names: the kind of name that players enter in the vote form of the server. */
export const playerNamesEndpoint: FastifyPluginAsyncZod<{ deps: AppDeps }> = async (app, { deps }) => {
  tagAnswers(app);
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
      // Another process may have removed the server after the token was authenticated.
      if (!found || found.removedAt) throw new RefusedError(UNAUTHORIZED);
      const kind = nameKindOf(found.game);
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
