import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { ObjectId } from 'mongodb';
import { z } from 'zod';
import { EDITIONS } from '../../games/editions.ts';
import { readServerAddresses } from '../../history/server-addresses.ts';
import { withinDatabaseTime } from '../../http/database-time.ts';
import { RefusedError } from '../../http/http-errors.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import { STATUSES } from '../../servers/server.ts';
import { hasNoToken, UNAUTHORIZED } from './authentication.ts';
import { tagAnswers } from './etag.ts';
import { type CountRead, READ_REFUSED, READS_HEADERS, WITHOUT_TOKEN } from './open-reads.ts';
import { publicRecord } from './public-record.ts';
import {
  answer,
  COMMON_FAILURES,
  countSchema,
  ETAG_HEADER,
  IF_NONE_MATCH,
  params,
  portSchema,
  titled,
  UNCHANGED,
} from './schemas.ts';

/** The field `addresses` of a server is a list of these. */
export const serverAddress = titled('ServerAddress', {
  edition: z
    .enum(EDITIONS)
    .nullable()
    .describe('The edition of Minecraft whose players join here; null for other games.'),
  address: z.string().meta({ description: 'Host name or IP address.', examples: ['play.example.org'] }),
  connection_port: portSchema,
  status: z
    .enum(STATUSES)
    .describe(
      'By the checks of this address alone, if there are two. Reports of the server say nothing of a single address.',
    ),
  online_players: countSchema.nullable().meta({
    description:
      'What this address told last; 0 while it is offline; null if hidden or unknown. Do not add two of them: both may count the same players. `online_players` of `GET …/info` is the number of the server.',
    examples: [12],
  }),
});

const addresses = titled('ServerAddresses', {
  addresses: z
    .array(serverAddress)
    .describe(
      'The address of `GET …/info`, and after it that of the other edition of Minecraft, if there is one.',
    ),
});

/** GET …/addresses: where players join, for everybody while the server is listed. */
export const addressesEndpoint: FastifyPluginAsyncZod<{ deps: AppDeps; countRead: CountRead }> = async (
  app,
  { deps, countRead },
) => {
  tagAnswers(app);
  app.get(
    '/addresses',
    {
      config: { scope: 'read', isOpen: true },
      async onRequest(request, reply) {
        if (hasNoToken(request)) await withinDatabaseTime(request, countRead(request, reply));
      },
      schema: {
        operationId: 'getServerAddresses',
        tags: ['server'],
        summary: 'Read the addresses of both editions',
        description: `A server of Minecraft may have an address for each edition. ${WITHOUT_TOKEN}`,
        security: [{ token: [] }, {}],
        params,
        headers: IF_NONE_MATCH,
        response: {
          200: answer(addresses, 'One or two addresses.', { ...ETAG_HEADER, ...READS_HEADERS }),
          304: UNCHANGED,
          ...COMMON_FAILURES,
          429: READ_REFUSED,
        },
      },
    },
    async (request) => {
      const serverId = new ObjectId(request.params.server_id);
      const found = await withinDatabaseTime(request, readServerAddresses(deps, serverId));
      if (!found) throw new RefusedError(UNAUTHORIZED);
      const shown = found.map(({ port: connectionPort, ...rest }) =>
        publicRecord(serverAddress, { ...rest, connectionPort }),
      );
      return { addresses: shown };
    },
  );
};
