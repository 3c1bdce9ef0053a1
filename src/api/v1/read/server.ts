import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { readPublicServer } from '../../../ranking/public-servers.ts';
import { READS } from '../open-reads.ts';
import { answer, IF_NONE_MATCH, UNCHANGED } from '../schemas.ts';
import { publicServerInFull, publicServerInFullOf } from './public-server.ts';
import { OPEN, READ_FAILURES, READ_HEADERS, type ReadDeps, sendRead } from './read-route.ts';
import { followingRenames, MOVED, NO_SERVER, serverNamed, slugParams } from './server-of-path.ts';

/** GET /api/v1/servers/{slug}: what its page shows, for everybody while the server is listed. */
export const serverEndpoint: FastifyPluginAsyncZod<ReadDeps> = async (app, read) => {
  const { deps, countRead, site } = read;
  app.get(
    '/servers/:slug',
    {
      schema: {
        ...OPEN,
        operationId: 'getServer',
        tags: ['listing'],
        summary: 'Read a server',
        description: `No token is needed; ${READS.times} calls a minute for a network.`,
        params: slugParams,
        headers: IF_NONE_MATCH,
        response: {
          200: answer(publicServerInFull, 'The server.', READ_HEADERS),
          301: MOVED,
          304: UNCHANGED,
          ...READ_FAILURES,
          404: NO_SERVER,
        },
      },
    },
    async (request, reply) => {
      await countRead(request, reply);
      const { slug } = request.params;
      const make = async () => {
        const server = await serverNamed(slug, (named) => readPublicServer(deps, named));
        return { body: publicServerInFullOf(site, server) };
      };
      return followingRenames(request, reply, () =>
        sendRead(request, reply, read, { key: JSON.stringify(['server', slug]), make, isShared: true }),
      );
    },
  );
};
