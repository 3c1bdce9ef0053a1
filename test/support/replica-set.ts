import { setTimeout as pause } from 'node:timers/promises';
import { MongoClient } from 'mongodb';
import type { Binary } from '../../src/embedded/binary.ts';
import { startMongod, type TestService } from './services.ts';

/** A replica set of three members, each of which may be killed and stopped at will. */
export type ReplicaSet = {
  members: TestService[];
  /** Its address, without a database: add one before the `?`. */
  uri(database: string): string;
  /** The member that is primary now; waits until there is one. */
  primary(): Promise<TestService>;
  stop(): Promise<void>;
};

const NAME = 'rs';

/**
 * Starts three members on loopback and waits for a primary.
 *
 * @param electionTimeoutMs - how long members wait without a primary before they elect another one
 */
export async function startReplicaSet({
  electionTimeoutMs = 1_000,
  binary,
}: {
  electionTimeoutMs?: number;
  binary?: Binary;
} = {}): Promise<ReplicaSet> {
  const options = { args: ['--replSet', NAME], ...(binary ? { binary } : {}) };
  const members = await Promise.all([1, 2, 3].map(() => startMongod(options)));
  const hosts = members.map(({ port }) => `127.0.0.1:${port}`);
  await command(members[0] as TestService, {
    replSetInitiate: {
      _id: NAME,
      members: hosts.map((host, _id) => ({ _id, host })),
      settings: { electionTimeoutMillis: electionTimeoutMs, heartbeatIntervalMillis: 500 },
    },
  });

  const set: ReplicaSet = {
    members,
    uri: (database) => `mongodb://${hosts.join(',')}/${database}?replicaSet=${NAME}`,
    async primary() {
      for (;;) {
        const writable = await Promise.all(members.map(isPrimary));
        const primary = members[writable.indexOf(true)];
        if (primary) return primary;
        await pause(50);
      }
    },
    async stop() {
      await Promise.all(members.map((member) => member.stop()));
    },
  };
  await set.primary();
  return set;
}

async function isPrimary(member: TestService): Promise<boolean> {
  try {
    return (await command(member, { hello: 1 })).isWritablePrimary === true;
  } catch {
    return false;
  }
}

/** Sends a command directly to a member. */
async function command({ port }: TestService, what: Record<string, unknown>) {
  const client = new MongoClient(`mongodb://127.0.0.1:${port}`, {
    directConnection: true,
    serverSelectionTimeoutMS: 300,
    connectTimeoutMS: 1_000,
    socketTimeoutMS: 10_000,
  });
  try {
    return await client.db('admin').command(what);
  } finally {
    await client.close();
  }
}
