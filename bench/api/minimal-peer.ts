/**
 * The minimal implementation with Fastify and MongoDB's driver: a vote is three operations (token, newest vote, insert),
 * check-vote two (token, newest vote), info two (token, server). It counts, queues, logs and removes nothing, and stores
 * the same votes with the same durability as ours.
 */
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import Fastify, { type FastifyReply, type FastifyRequest } from 'fastify';
import { MongoClient, ObjectId, UUID } from 'mongodb';
import { v7 as uuidv7 } from 'uuid';
import type { ApiToken } from '../../src/servers/api-token.ts';
import type { Server } from '../../src/servers/server.ts';
import { noDelivery, type Vote } from '../../src/votes/vote.ts';

const { MONGODB_URI = '', PORT, METRICS_PORT } = process.env;
const DAY_MS = 24 * 3_600_000;

const client = new MongoClient(MONGODB_URI, { maxPoolSize: 100, ignoreUndefined: true });
await client.connect();
const database = client.db();
const db = {
  servers: database.collection<Server>('servers'),
  apiTokens: database.collection<ApiToken>('api_tokens'),
  votes: database.collection<Vote>('votes'),
};
const app = Fastify();

async function callerOf(request: FastifyRequest): Promise<{ serverId: ObjectId; tokenId: ObjectId } | null> {
  const serverId = new ObjectId((request.params as { id: string }).id);
  const token = request.headers.authorization?.slice('Bearer '.length) ?? '';
  const hash = createHash('sha256').update(token).digest('hex');
  const found = await db.apiTokens.findOne({ hash }, { projection: { serverId: 1, revokedAt: 1 } });
  return found && !found.revokedAt && found.serverId.equals(serverId)
    ? { serverId, tokenId: found._id }
    : null;
}

const newestOf = (serverId: ObjectId, usernameKey: string) =>
  db.votes.findOne(
    { serverId, usernameKey },
    { sort: { seq: -1 }, projection: { seq: 1, votedAt: 1 }, readConcern: { level: 'majority' } },
  );

const refuse = (reply: FastifyReply, status: number, error: string) => reply.code(status).send({ error });
const text = { type: 'string' } as const;
const username = {
  type: 'object',
  required: ['username'],
  properties: { username: { ...text, maxLength: 50 } },
};

app.post<{ Body: { username: string } }>(
  '/api/v1/servers/:id/vote',
  { schema: { body: username } },
  async (request, reply) => {
    const caller = await callerOf(request);
    if (!caller) return refuse(reply, 401, 'unauthorized');
    const now = new Date();
    const name = request.body.username.trim();
    const usernameKey = name.normalize('NFKC').toLowerCase();
    const newest = await newestOf(caller.serverId, usernameKey);
    if (newest && now.getTime() - newest.votedAt.getTime() < DAY_MS)
      return refuse(reply, 429, 'voted already');
    const delivery = {
      ...noDelivery(),
      state: 'waiting' as const,
      nextAt: now,
      dueBy: 'cast' as const,
      queuedAt: now,
      expiresAt: new Date(now.getTime() + 3 * DAY_MS),
    };
    const _id = new UUID(uuidv7({ msecs: now.getTime() }));
    await db.votes.insertOne(
      { _id, ...caller, username: name, usernameKey, seq: (newest?.seq ?? 0) + 1, votedAt: now, delivery },
      { writeConcern: { w: 'majority', journal: true } },
    );
    return { success: true, next_vote_at: new Date(now.getTime() + DAY_MS).toISOString() };
  },
);

app.get<{ Querystring: { username: string } }>(
  '/api/v1/servers/:id/check-vote',
  { schema: { querystring: username } },
  async (request, reply) => {
    const caller = await callerOf(request);
    if (!caller) return refuse(reply, 401, 'unauthorized');
    const key = request.query.username.trim().normalize('NFKC').toLowerCase();
    const newest = await newestOf(caller.serverId, key);
    return { has_voted: Boolean(newest), voted_at: newest?.votedAt ?? null };
  },
);

app.get('/api/v1/servers/:id/info', async (request, reply) => {
  const caller = await callerOf(request);
  if (!caller) return refuse(reply, 401, 'unauthorized');
  const server = await db.servers.findOne({ _id: caller.serverId });
  if (!server) return refuse(reply, 401, 'unauthorized');
  const { name, slug, address, port, current, daily, probe, rankPosition, isPremium, listedAt } = server;
  return {
    name,
    slug,
    address,
    connection_port: port,
    status: probe.status,
    online_players: current.onlinePlayers,
    max_players: current.maxPlayers,
    average_players: daily.averagePlayers,
    peak_players: daily.peakPlayers,
    motd: current.motd,
    server_version: current.version,
    rank_position: rankPosition,
    is_premium: isPremium,
    date_added: listedAt,
  };
});

await app.listen({ port: Number(PORT), host: '127.0.0.1' });
createServer((_, response) => response.end('ready')).listen(Number(METRICS_PORT), '127.0.0.1');
process.once('SIGTERM', () => process.exit(0));
