import type { FastifyReply, FastifyRequest } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { ObjectId } from 'mongodb';
import { withinDatabaseTime } from '../../../http/database-time.ts';
import { RefusedError, SENTENCES, unavailable } from '../../../http/http-errors.ts';
import { noteWait } from '../../../http/waited.ts';
import { after, SECOND } from '../../../platform/clock.ts';
import type { AppDeps } from '../../../process/app-deps.ts';
import { findListed, readPublicServers } from '../../../ranking/public-servers.ts';
import { publicRecord } from '../public-record.ts';
import { RATE_LIMIT_HEADERS, tooManyRequests } from '../schemas.ts';
import { LIVE, type LiveState, LiveStreams } from './live-streams.ts';
import { liveFigures } from './public-server.ts';
import { OPEN, READ_FAILURES, type ReadDeps } from './read-route.ts';
import { followingRenames, MOVED, NO_SERVER, noServer, serverNamed, slugParams } from './server-of-path.ts';

const FIGURES = Object.keys(liveFigures.shape)
  .map((name) => `\`${name}\``)
  .join(', ');

/** The data of an event. */
const liveState = liveFigures.partial().meta({ title: 'LiveState' });

async function readStates(deps: AppDeps, ids: string[]): Promise<Map<string, LiveState>> {
  const servers = await readPublicServers(
    deps,
    ids.map((id) => new ObjectId(id)),
  );
  return new Map(
    servers.map((one) => [one.id, publicRecord(liveFigures, { ...one, serverVersion: one.version })]),
  );
}

/** GET /api/v1/servers/{slug}/live: the figures of the server as Server-Sent Events. */
export const liveEndpoint: FastifyPluginAsyncZod<ReadDeps> = async (app, { deps, countRead }) => {
  const streams = new LiveStreams(
    (ids) => readStates(deps, ids),
    (error) => deps.log.warn({ event: 'live.not_read', reason: String(error) }),
  );
  // Closing the server waits for all answers.
  app.addHook('preClose', async () => streams.end());

  /** @throws {RefusedError} 503 or 429 if there are too many streams */
  function takePlace({ ip }: FastifyRequest): () => void {
    const place = streams.takePlace(ip);
    if (place === 'process') throw new RefusedError(unavailable('overloaded', SENTENCES.overload));
    if (place === 'network')
      throw tooManyRequests('A further live stream', after(deps.clock.now(), LIVE.commentMs), deps.clock);
    return place.leave;
  }

  /** @throws {RefusedError} 404 if the server was hidden or removed just now */
  async function open(request: FastifyRequest, reply: FastifyReply, serverId: string): Promise<FastifyReply> {
    const { raw } = reply;
    const { socket } = request.raw;
    const hasLeft = () => raw.destroyed || socket.destroyed || socket.readableEnded;
    const giveUp = () => {
      raw.destroy();
      return reply.hijack();
    };
    // If the client has left while the call was counted, no `close` and no `end` comes any more.
    if (hasLeft()) return giveUp();
    const leave = takePlace(request);
    // A client that has closed only its own side counts as gone: the connection of a killed program looks the same.
    const drop = () => raw.destroy();
    socket.once('end', drop);
    raw.once('close', () => {
      socket.off('end', drop);
      leave();
    });
    const began = performance.now();
    raw.once('prefinish', () => noteWait(request, performance.now() - began));
    try {
      const state = await withinDatabaseTime(request, streams.stateOf(serverId));
      if (!state) throw noServer();
      if (hasLeft()) {
        leave();
        return giveUp();
      }
      writeHead(reply);
      streams.open(serverId, raw, state);
      return reply;
    } catch (error) {
      socket.off('end', drop);
      leave();
      throw error;
    }
  }

  app.get(
    '/servers/:slug/live',
    {
      schema: {
        ...OPEN,
        operationId: 'followServer',
        tags: ['listing'],
        summary: "Follow a server's figures",
        description: `Server-Sent Events, which browsers read with \`EventSource\`. The event \`state\` has JSON with ${FIGURES} as in \`GET …/{slug}\`: the first one all of them, at once, and the later ones those that changed, at most one in ${LIVE.everyMs / SECOND} seconds. A comment comes every ${LIVE.commentMs / SECOND} seconds. A stream ends after some minutes, when the process stops, and when the server is no longer listed: connect again, as \`EventSource\` does. A network may have ${LIVE.mostOfNetwork} streams in each web process. No token is needed.`,
        params: slugParams,
        response: {
          200: {
            description: 'The events.',
            headers: RATE_LIMIT_HEADERS,
            content: { 'text/event-stream': { schema: liveState } },
          },
          301: MOVED,
          ...READ_FAILURES,
          404: NO_SERVER,
        },
      },
    },
    async (request, reply) => {
      const { slug } = request.params;
      await withinDatabaseTime(request, countRead(request, reply));
      return followingRenames(request, reply, async () => {
        const server = await withinDatabaseTime(
          request,
          serverNamed(slug, (named) => findListed(deps, named)),
        );
        if (request.method === 'HEAD') {
          writeHead(reply).end();
          return reply;
        }
        return open(request, reply, server._id.toHexString());
      });
    },
  );
};

const STREAM_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  // nginx would collect the events.
  'x-accel-buffering': 'no',
} as const;

/** From then on the answer is written without Fastify, which would keep a buffer of its own for each stream. */
function writeHead(reply: FastifyReply): FastifyReply['raw'] {
  const known = Object.entries(reply.getHeaders()).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, Array.isArray(value) ? value : String(value)] as const],
  );
  return reply.hijack().raw.writeHead(200, { ...Object.fromEntries(known), ...STREAM_HEADERS });
}
