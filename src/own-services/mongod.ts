import { MongoClient } from 'mongodb';
import type { ServiceKind } from './service-process.ts';

/** mongodb-memory-server would keep it in our process group and kill it while other processes still use it. */
export const MONGOD: ServiceKind = {
  title: 'MongoDB',
  args: (dataDir, port) => [
    '--dbpath',
    dataDir,
    '--bind_ip',
    '127.0.0.1',
    '--port',
    String(port),
    '--storageEngine',
    'wiredTiger',
    // By default mongod takes half of the machine's memory.
    '--wiredTigerCacheSizeGB',
    '0.5',
    '--nounixsocket',
    '--quiet',
    '--setParameter',
    'diagnosticDataCollectionEnabled=false',
  ],
  async answeringPid(port) {
    const client = new MongoClient(`mongodb://127.0.0.1:${port}`, {
      directConnection: true,
      serverSelectionTimeoutMS: 200,
      connectTimeoutMS: 1_000,
      socketTimeoutMS: 2_000,
    });
    try {
      const status = await client.db('admin').command({ serverStatus: 1 });
      return Number(status.pid);
    } finally {
      await client.close();
    }
  },
  address: (port) => `mongodb://127.0.0.1:${port}`,
};

export function databaseAddress(port: number): string {
  return `${MONGOD.address(port)}/tallyport`;
}
