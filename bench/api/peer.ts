/**
 * The peer for comparison: the same five endpoints with Fastify and MongoDB's driver as their documentation recommends:
 * schemas compiled by Fastify, a pool of 100, projections, the same indexes and write concern, one operation for each
 * need. It writes no log, checks only its schemas, and has no errors except 401 and 429: each of these makes it faster.
 */
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import { Queue } from 'bullmq';
import Fastify, { type FastifyRequest } from 'fastify';
import { Redis } from 'ioredis';
import { MongoClient, ObjectId, UUID } from 'mongodb';
import { v7 as uuidv7 } from 'uuid';
import type { StatusSample } from '../../src/history/status-sample.ts';
import type { Listener } from '../../src/listeners/listener.ts';
import type { Review, ReviewList } from '../../src/reviews/review.ts';
import type { ApiToken } from '../../src/servers/api-token.ts';
import type { Server } from '../../src/servers/server.ts';
import { noDelivery, type Vote } from '../../src/votes/vote.ts';
import type { VoteCounter } from '../../src/votes/vote-counter.ts';

const { MONGODB_URI = '', REDIS_URL = '', PORT, METRICS_PORT } = process.env;
const DURABLE = { w: 'majority', journal: true } as const;
const SAFE = { readConcern: { level: 'majority' } } as const;
const DAY_MS = 24 * 3_600_000;
const REPORT_MS = 5 * 60_000;

// Like ours, every write waits for a majority. On a standalone mongod, this means the journal.
const writeConcern = { w: 'majority' } as const;
const client = new MongoClient(MONGODB_URI, { maxPoolSize: 100, ignoreUndefined: true, writeConcern });
await client.connect();
const database = client.db();
const db = {
  servers: database.collection<Server>('servers'),
  apiTokens: database.collection<ApiToken>('api_tokens'),
  votes: database.collection<Vote>('votes'),
  voteCounters: database.collection<VoteCounter>('vote_counters'),
  listeners: database.collection<Listener>('listeners'),
  statusSamples: database.collection<StatusSample>('status_samples'),
  reviews: database.collection<Review>('reviews'),
  reviewLists: database.collection<ReviewList>('review_lists'),
};
const queue = new Queue('forward', {
  connection: new Redis(REDIS_URL, { maxRetriesPerRequest: null }),
  prefix: '{peer}',
});
const app = Fastify();

class Refused extends Error {
  readonly statusCode: number;
  constructor(statusCode: number, message: string) {
    super(message);
    this.statusCode = statusCode;
  }
}

const number = { type: 'number' } as const;
const text = { type: 'string' } as const;
const body = (properties: Record<string, object>) => ({
  type: 'object',
  required: Object.keys(properties),
  properties,
});
const username = { ...text, minLength: 1, maxLength: 50 };

app.decorateRequest('caller', null);
type Caller = { serverId: ObjectId; tokenId: ObjectId };
const callerOf = (request: FastifyRequest) => request.getDecorator<Caller>('caller');

app.addHook<{ Params: { id: string } }>('onRequest', async (request) => {
  const token = request.headers.authorization?.slice('Bearer '.length) ?? '';
  const serverId = new ObjectId(request.params.id);
  const [found, server] = await Promise.all([
    db.apiTokens.findOne(
      { hash: createHash('sha256').update(token).digest('hex') },
      { projection: { serverId: 1, revokedAt: 1, expiresAt: 1, lastUsedAt: 1 } },
    ),
    db.servers.findOne({ _id: serverId }, { projection: { removedAt: 1 } }),
  ]);
  const now = new Date();
  const valid = found && !found.revokedAt && (!found.expiresAt || now < found.expiresAt);
  if (!valid || !server || server.removedAt || !found.serverId.equals(serverId))
    throw new Refused(401, 'unauthorized');
  request.setDecorator<Caller>('caller', { serverId, tokenId: found._id });
  if (!found.lastUsedAt || now.getTime() - found.lastUsedAt.getTime() > 60_000)
    void db.apiTokens.updateOne({ _id: found._id }, { $max: { lastUsedAt: now } });
});

const newestOf = (serverId: ObjectId, usernameKey: string) =>
  db.votes.findOne(
    { serverId, usernameKey },
    { sort: { seq: -1 }, projection: { seq: 1, votedAt: 1 }, ...SAFE },
  );

app.post<{ Body: { username: string } }>(
  '/api/v1/servers/:id/vote',
  {
    schema: {
      body: body({ username }),
      response: {
        200: body({ success: { type: 'boolean' }, monthly_votes: number, next_vote_at: text }),
      },
    },
  },
  async (request) => {
    const { serverId, tokenId } = callerOf(request);
    const now = new Date();
    const name = request.body.username.trim();
    const usernameKey = name.normalize('NFKC').toLowerCase();
    const [newest, listener] = await Promise.all([
      newestOf(serverId, usernameKey),
      db.listeners.findOne({ serverId }, { projection: { _id: 1 } }),
    ]);
    if (newest && now.getTime() - newest.votedAt.getTime() < DAY_MS) throw new Refused(429, 'voted already');
    const vote = {
      _id: new UUID(uuidv7({ msecs: now.getTime() })),
      serverId,
      username: name,
      usernameKey,
      seq: (newest?.seq ?? 0) + 1,
      votedAt: now,
      tokenId,
      delivery: {
        ...noDelivery(),
        state: 'waiting' as const,
        nextAt: now,
        dueBy: 'cast' as const,
        queuedAt: now,
        expiresAt: new Date(now.getTime() + 3 * DAY_MS),
      },
    };
    await db.votes.insertOne(vote, { writeConcern: DURABLE });
    const [month = '', day = ''] = [now.toISOString().slice(0, 7), now.toISOString().slice(8, 10)];
    const [counter] = await Promise.all([
      db.voteCounters.findOneAndUpdate(
        { serverId, month },
        { $inc: { [`days.${day}`]: 1 } },
        { upsert: true, returnDocument: 'after', projection: { days: 1 } },
      ),
      listener &&
        queue.add('forward', { voteId: vote._id.toString() }, { removeOnComplete: 100, removeOnFail: 100 }),
    ]);
    const votes = Object.values(counter?.days ?? {}).reduce((sum, count) => sum + count, 0);
    return {
      success: true,
      monthly_votes: votes,
      next_vote_at: new Date(now.getTime() + DAY_MS).toISOString(),
    };
  },
);

app.get<{ Querystring: { username: string } }>(
  '/api/v1/servers/:id/check-vote',
  {
    schema: {
      querystring: body({ username }),
      response: {
        200: body({
          has_voted: { type: 'boolean' },
          voted_at: { ...text, nullable: true },
          next_vote_at: { ...text, nullable: true },
        }),
      },
    },
  },
  async (request) => {
    const key = request.query.username.trim().normalize('NFKC').toLowerCase();
    const newest = await newestOf(callerOf(request).serverId, key);
    const voted = newest && Date.now() - newest.votedAt.getTime() < DAY_MS;
    return {
      has_voted: Boolean(voted),
      voted_at: voted ? newest.votedAt.toISOString() : null,
      next_vote_at: voted ? new Date(newest.votedAt.getTime() + DAY_MS).toISOString() : null,
    };
  },
);

app.post<{ Body: { online_players: number; max_players: number } }>(
  '/api/v1/servers/:id/status',
  {
    schema: {
      body: body({ online_players: number, max_players: number }),
      response: { 200: body({ success: { type: 'boolean' } }) },
    },
  },
  async (request) => {
    const { serverId } = callerOf(request);
    const { online_players: onlinePlayers, max_players: maxPlayers } = request.body;
    const at = new Date();
    const taken = await db.servers.findOneAndUpdate(
      {
        _id: serverId,
        $or: [{ lastReport: null }, { 'lastReport.at': { $lte: new Date(at.getTime() - REPORT_MS) } }],
      },
      {
        $set: {
          lastReport: { id: new UUID(uuidv7()), at },
          'current.onlinePlayers': onlinePlayers,
          'current.maxPlayers': maxPlayers,
          'current.checkedAt': at,
        },
      },
      { projection: { lastReport: 1 } },
    );
    if (!taken) throw new Refused(429, 'reported already');
    const status = 'online' as const;
    await db.statusSamples.insertOne({
      at,
      serverId,
      source: 'report',
      seconds: 0,
      status,
      onlinePlayers,
      maxPlayers,
      latencyMs: null,
    });
    return { success: true };
  },
);

const shown = {
  name: text,
  slug: text,
  address: text,
  connection_port: number,
  country_code: text,
  status: text,
  online_players: number,
  max_players: number,
  average_players: number,
  peak_players: number,
  latency_ms: { ...number, nullable: true },
  average_latency: { ...number, nullable: true },
  uptime_percentage: { ...number, nullable: true },
  motd: text,
  server_version: text,
  votes_count: number,
  monthly_votes: number,
  all_time_votes: number,
  rank_position: number,
  is_premium: { type: 'boolean' },
  last_checked_at: { ...text, nullable: true },
  date_added: text,
};

app.get('/api/v1/servers/:id/info', { schema: { response: { 200: body(shown) } } }, async (request) => {
  const { serverId } = callerOf(request);
  const [server, counters] = await Promise.all([
    db.servers.findOne({ _id: serverId }),
    db.voteCounters.find({ serverId }, { projection: { month: 1, days: 1 } }).toArray(),
  ]);
  if (!server) throw new Refused(401, 'unauthorized');
  const now = Date.now();
  const since = new Date(now - 29 * DAY_MS).toISOString().slice(0, 10);
  const month = new Date(now).toISOString().slice(0, 7);
  const figures = { votes_count: 0, monthly_votes: 0, all_time_votes: 0 };
  for (const counter of counters) {
    for (const [day, count] of Object.entries(counter.days)) {
      figures.all_time_votes += count;
      if (counter.month === month) figures.monthly_votes += count;
      if (`${counter.month}-${day}` >= since) figures.votes_count += count;
    }
  }
  const { current, daily, probe, lastReport } = server;
  const reported = lastReport && now - lastReport.at.getTime() < 15 * 60_000;
  return {
    ...figures,
    name: server.name,
    slug: server.slug,
    address: server.address,
    connection_port: server.port,
    country_code: server.countryCode ?? 'ZZ',
    status: reported ? 'online' : probe.status,
    online_players: current.onlinePlayers,
    max_players: current.maxPlayers,
    average_players: daily.averagePlayers,
    peak_players: daily.peakPlayers,
    latency_ms: (reported ? current.reportedLatencyMs : probe.latencyMs) ?? null,
    average_latency: daily.averageLatency ?? null,
    uptime_percentage: daily.uptimePercentage ?? null,
    motd: current.motd,
    server_version: current.version,
    rank_position: server.rankPosition,
    is_premium: server.isPremium,
    last_checked_at: current.checkedAt?.toISOString() ?? null,
    date_added: server.listedAt.toISOString(),
  };
});

const review = body({ username: text, rating: number, content: text, created_at: text });
app.get(
  '/api/v1/servers/:id/reviews',
  {
    schema: {
      response: {
        200: body({
          review_count: number,
          average_rating: number,
          reviews: { type: 'array', items: review },
          pagination: body({ page: number, limit: number, total: number, total_pages: number }),
        }),
      },
    },
  },
  async (request) => {
    const { serverId } = callerOf(request);
    const [list, reviews] = await Promise.all([
      db.reviewLists.findOne({ _id: serverId }, { projection: { count: 1, ratingSum: 1 } }),
      db.reviews
        .find(
          { serverId, state: 'approved' },
          { projection: { username: 1, rating: 1, content: 1, createdAt: 1 } },
        )
        .sort({ createdAt: -1 })
        .limit(10)
        .toArray(),
    ]);
    const total = list?.count ?? 0;
    return {
      review_count: total,
      average_rating: total > 0 ? Math.round((100 * (list?.ratingSum ?? 0)) / total) / 100 : 0,
      reviews: reviews.map(({ username, rating, content, createdAt }) => ({
        username,
        rating,
        content: content ?? '',
        created_at: createdAt.toISOString(),
      })),
      pagination: { page: 1, limit: 10, total, total_pages: Math.ceil(total / 10) },
    };
  },
);

await app.listen({ port: Number(PORT), host: '127.0.0.1' });
createServer((_, response) => response.end('ready')).listen(Number(METRICS_PORT), '127.0.0.1');
process.once('SIGTERM', () => process.exit(0));
