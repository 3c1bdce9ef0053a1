import { CodedError } from './app-error.ts';
import type { Mongo } from './mongo.ts';

/**
 * The name of each connection to MongoDB. 0.1.0 has it without a version, so MongoDB knows whether processes of that
 * version are connected (docs/adr/0124-fetching.md).
 */
export const CONNECTION_NAME = 'tallyport/0.2';
const EARLIER_NAME = 'tallyport';

/** Processes of an earlier version run, or it is unknown whether they do. */
export class EarlierProcessesError extends CodedError<'earlier-processes' | 'processes-unknown'> {}

/** A connection: to a mongod it has `client`, to the router of a sharded cluster `client_s`. */
type Connected = { client?: string; client_s?: string };

/**
 * Refuses what an earlier version cannot live with, while processes of it are connected to this MongoDB. Those of other
 * databases on it count too, because an idle connection does not show its database.
 *
 * @throws {EarlierProcessesError} when there are any, and when MongoDB does not say
 */
export async function refuseEarlierProcesses(mongo: Pick<Mongo, 'connection'>): Promise<void> {
  const earlier = await earlierClients(mongo);
  if (earlier.length === 0) return;
  const from = [...new Set(earlier.map(({ client, client_s }) => hostOf(client ?? client_s)))].join(', ');
  throw new EarlierProcessesError(
    'earlier-processes',
    `Processes of an earlier version of Tallyport are connected to MongoDB (from ${from}): stop or upgrade them first, because they do not know a listener that fetches.`,
  );
}

/** The host of `192.0.2.7:52114`. */
function hostOf(client = 'an unknown address'): string {
  return client.replace(/:\d+$/, '');
}

/** All connections, or only those of our own user where MongoDB does not allow more. */
async function earlierClients({ connection }: Pick<Mongo, 'connection'>): Promise<Connected[]> {
  const list = (allUsers: boolean) =>
    connection
      .getClient()
      .db('admin')
      .aggregate<Connected>([
        { $currentOp: { allUsers, idleConnections: true } },
        { $match: { appName: EARLIER_NAME } },
        { $project: { client: 1, client_s: 1 } },
      ])
      .toArray();
  try {
    return await list(true).catch(() => list(false));
  } catch (error) {
    throw new EarlierProcessesError(
      'processes-unknown',
      'MongoDB does not say whether processes of an earlier version of Tallyport run: give the user of MONGODB_URI the role clusterMonitor.',
      { cause: error },
    );
  }
}
