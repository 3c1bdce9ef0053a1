import { setTimeout as pause } from 'node:timers/promises';
import { type Collection, type Document, MongoClient, ObjectId } from 'mongodb';
import { MONGOD } from '../../../src/own-services/mongod.ts';
import { SECOND } from '../../../src/platform/clock.ts';
import { initiate, primaryOf } from '../../support/replica-set.ts';
import { type Inject, killing, pick, stopping, untilMended } from '../inject.ts';
import { careOf, type Node, openNode, type ServiceOptions, type StormService } from './storm-service.ts';

const NAME = 'storm';

/** Members elect another primary after this time without one; the default of MongoDB is 10 s. */
const ELECTION_TIMEOUT_MS = 2 * SECOND;

/** A primary whose secondaries do not answer accepts writes for this long: it steps down at the election's timeout. */
const ALONE_MS = SECOND;

/** How long a fault waits for a primary. */
const PRIMARY_TIMEOUT_MS = 5 * SECOND;

/** A replica set of three, each member behind a proxy that all processes and the other members use. */
export async function startStormReplicaSet(options: ServiceOptions): Promise<StormService> {
  const nodes = await Promise.all(
    [0, 1, 2].map((n) =>
      openNode(MONGOD, options, {
        name: `mongod-${n}`,
        requests: 'mongodb',
        args: () => ['--replSet', NAME],
      }),
    ),
  );
  await Promise.all(nodes.map((node) => node.start()));
  const hosts = nodes.map(({ line }) => `127.0.0.1:${line.port}`);
  const ports = nodes.map(({ port }) => port);
  await initiate(NAME, ports[0] as number, hosts, ELECTION_TIMEOUT_MS);

  /** The primary; if there is none for long, any member. */
  async function primary(): Promise<Node> {
    const index = await primaryOf(ports, PRIMARY_TIMEOUT_MS);
    return nodes[index ?? 0] as Node;
  }
  const secondaries = async () => {
    const first = await primary();
    return nodes.filter((node) => node !== first);
  };
  await primary();

  const address = `mongodb://${hosts.join(',')}/storm?replicaSet=${NAME}`;
  const lonely: ObjectId[] = [];
  return {
    address,
    connect: async () => ({ address, line: async () => (await primary()).line }),
    faults: {
      'kill-primary': killing(primary),
      'stop-primary': stopping(primary),
      'step-down-primary': async () => stepDown(await primary()),
      'kill-secondary': killing(async (which) => pick(await secondaries(), which)),
      'stop-secondary': stopping(async (which) => pick(await secondaries(), which)),
      'roll-back-primary': rollingBack(primary, secondaries, lonely),
    },
    ...careOf(nodes),
    async rolledBack() {
      await primary();
      const kept = await onDatabase(address, (collection) =>
        collection.countDocuments({ _id: { $in: lonely } }, { readConcern: { level: 'majority' } }),
      );
      return lonely.length - kept;
    },
  };
}

/** The primary steps down for a second; another member is elected at once. */
async function stepDown({ port }: Node): Promise<void> {
  const client = directClient(port);
  // A fault may have made it a secondary or ended it before.
  await client
    .db('admin')
    .command({ replSetStepDown: 1, force: true })
    .catch(() => undefined);
  await client.close();
}

/**
 * The secondaries are suspended while the primary accepts writes that it cannot replicate. Then it is killed, and the
 * others elect one of themselves. When it comes back, it must roll back these writes. One such write of the storm is
 * noted.
 */
function rollingBack(
  primary: () => Promise<Node>,
  secondaries: () => Promise<Node[]>,
  lonely: ObjectId[],
): Inject {
  return async ({ lasting }) => {
    const [first, others] = [await primary(), await secondaries()];
    for (const other of others) other.stop();
    const _id = new ObjectId();
    const write = onDatabase(`mongodb://127.0.0.1:${first.port}/storm?directConnection=true`, (collection) =>
      collection.insertOne({ _id }, { writeConcern: { w: 1, journal: true }, timeoutMS: ALONE_MS }),
    );
    const written = write.then(
      () => void lonely.push(_id),
      () => undefined,
    );
    await pause(ALONE_MS);
    await first.kill();
    for (const other of others) other.resume();
    await written;
    await pause(lasting);
    await untilMended(first.start);
  };
}

type Marks = { _id: ObjectId } & Document;

async function onDatabase<T>(uri: string, work: (collection: Collection<Marks>) => Promise<T>): Promise<T> {
  const client = new MongoClient(uri, { serverSelectionTimeoutMS: 10 * SECOND });
  try {
    return await work(client.db().collection<Marks>('storm_marks'));
  } finally {
    await client.close();
  }
}

function directClient(port: number): MongoClient {
  return new MongoClient(`mongodb://127.0.0.1:${port}`, {
    directConnection: true,
    serverSelectionTimeoutMS: 500,
    connectTimeoutMS: SECOND,
    socketTimeoutMS: 10 * SECOND,
  });
}
