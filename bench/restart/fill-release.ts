import { readFile } from 'node:fs/promises';
import { BSON, type Db, type Document, MongoClient, ObjectId, UUID } from 'mongodb';
import { DAY } from '../../src/platform/clock.ts';

const SERVERS = 1_000;
const DAYS = 90;

type Samples = Record<'servers' | 'votes' | 'vote_counters', Document>;

/**
 * Adds 1,000 servers with `votes` delivered votes of the last 90 days to a database of 0.1.0. Each document is a copy of one
 * that 0.1.0 made (`test/database/databases/0.1.0.json`), with its own ids, names and times.
 *
 * @returns how many votes are stored
 */
export async function fillRelease(mongodbUri: string, votes: number): Promise<number> {
  const samples = await readSamples();
  const client = new MongoClient(mongodbUri);
  const db = client.db();
  const perServer = Math.ceil(votes / SERVERS);
  try {
    for (let n = 0; n < SERVERS; n += 1) {
      await addServer(db, samples, n, Math.max(0, Math.min(perServer, votes - n * perServer)));
    }
    return await db.collection('votes').countDocuments({});
  } finally {
    await client.close();
  }
}

async function readSamples(): Promise<Samples> {
  const file = new URL('../../test/database/databases/0.1.0.json', import.meta.url);
  const { collections } = BSON.EJSON.parse(await readFile(file, 'utf8'));
  const first = (name: string) => collections[name].documents[0] as Document;
  return { servers: first('servers'), votes: first('votes'), vote_counters: first('vote_counters') };
}

async function addServer(db: Db, samples: Samples, n: number, votes: number): Promise<void> {
  const serverId = new ObjectId();
  const slug = `filler-${n}`;
  const names = { name: `Filler ${n}`, slug, slugs: [slug], address: `filler-${n}.example.org` };
  await db.collection('servers').insertOne({ ...samples.servers, _id: serverId, ...names });
  const documents = Array.from({ length: votes }, (_, index) =>
    voteOf(samples.votes, serverId, index, Date.now() - DAY - Math.floor((index * (DAYS - 1) * DAY) / votes)),
  );
  if (documents.length > 0) await db.collection('votes').insertMany(documents, { ordered: false });
  const counters = countersOf(samples.vote_counters, serverId, documents);
  if (counters.length > 0) await db.collection('vote_counters').insertMany(counters);
}

function voteOf(sample: Document, serverId: ObjectId, index: number, at: number): Document {
  const votedAt = new Date(at);
  const attempt = { ...sample.delivery.attempts[0], id: new UUID(), at: votedAt };
  return {
    ...sample,
    _id: new UUID(),
    serverId,
    username: `Filler_${index}`,
    usernameKey: `filler_${index}`,
    votedAt,
    delivery: { ...sample.delivery, attempts: [attempt], deliveredAt: votedAt },
  };
}

/** The counters of a server: one document per month, as 0.1.0 stored them. */
function countersOf(sample: Document, serverId: ObjectId, votes: Document[]): Document[] {
  const months = new Map<string, Record<string, number>>();
  for (const { votedAt } of votes) {
    const day = votedAt.toISOString().slice(0, 10);
    const [month, ofMonth] = [day.slice(0, 7), day.slice(8)];
    const days = months.get(month) ?? {};
    days[ofMonth] = (days[ofMonth] ?? 0) + 1;
    months.set(month, days);
  }
  return [...months].map(([month, days]) => ({ ...sample, _id: new ObjectId(), serverId, month, days }));
}
