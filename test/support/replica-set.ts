import { setTimeout as pause } from 'node:timers/promises';
import { MongoClient } from 'mongodb';
import type { Binary } from '../../src/own-services/binary.ts';
import { startMongod, type TestService } from './services.ts';

/** A replica set of three members, each of which a test may kill or stop. */
export type ReplicaSet = {
  members: TestService[];
  /** Its URI for a database. */
  uri(database: string): string;
  /** The current primary. Waits until there is one. */
  primary(): Promise<TestService>;
  stop(): Promise<void>;
};

const NAME = 'rs';

/**
 * Starts three members on loopback and waits for a primary.
 *
 * @param electionTimeoutMs - after this time without a primary, the members elect another one
 */
export async function startReplicaSet({
  electionTimeoutMs = 1_000,
  binary,
}: {
  electionTimeoutMs?: number;
  binary?: Binary;
} = {}): Promise<ReplicaSet> {
  // Without this parameter, a primary that is stopped would wait 15 s for a successor.
  const args = ['--replSet', NAME, '--setParameter', 'shutdownTimeoutMillisForSignaledShutdown=100'];
  const options = { args, ...(binary ? { binary } : {}) };
  const members = await Promise.all([1, 2, 3].map(() => startMongod(options)));
  const hosts = members.map(({ port }) => `127.0.0.1:${port}`);
  const ports = members.map(({ port }) => port);
  await initiate(NAME, ports[0] as number, hosts, electionTimeoutMs);

  const set: ReplicaSet = {
    members,
    uri: (database) => `mongodb://${hosts.join(',')}/${database}?replicaSet=${NAME}`,
    async primary() {
      return members[await primaryOf(ports)] as TestService;
    },
    async stop() {
      await Promise.all(members.map((member) => member.stop()));
    },
  };
  await set.primary();
  return set;
}

/** Makes a replica set of started members. `port` is the port of one of them. */
export async function initiate(
  name: string,
  port: number,
  hosts: string[],
  electionTimeoutMs: number,
): Promise<void> {
  await command(port, {
    replSetInitiate: {
      _id: name,
      members: hosts.map((host, _id) => ({ _id, host })),
      settings: { electionTimeoutMillis: electionTimeoutMs, heartbeatIntervalMillis: 500 },
    },
  });
}

/** The index of the current primary. Waits until there is one; with `timeoutMs`, returns undefined after that time. */
export async function primaryOf(ports: number[]): Promise<number>;
export async function primaryOf(ports: number[], timeoutMs: number): Promise<number | undefined>;
export async function primaryOf(ports: number[], timeoutMs = Infinity): Promise<number | undefined> {
  const deadline = performance.now() + timeoutMs;
  while (performance.now() < deadline) {
    const index = (await Promise.all(ports.map(isPrimary))).indexOf(true);
    if (index >= 0) return index;
    await pause(50);
  }
  return undefined;
}

async function isPrimary(port: number): Promise<boolean> {
  try {
    return (await command(port, { hello: 1 })).isWritablePrimary === true;
  } catch {
    return false;
  }
}

/** Sends a command directly to a member. */
async function command(port: number, what: Record<string, unknown>) {
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
