import { MongoServerError } from 'mongodb';
import { CodedError } from './app-error.ts';
import { EARLIER_CONNECTION_NAME, type Mongo } from './mongo.ts';

/** Processes of an earlier version run, or it is unknown whether any run. */
export class EarlierProcessesError extends CodedError<'earlier-processes' | 'processes-unknown'> {}

const UNAUTHORIZED = 13;

/** An entry of `$currentOp`. The address of the client is in `client`, or in `client_s` on a sharded cluster. */
type Connected = { client?: string; client_s?: string };

/**
 * Call it before a change that an earlier version does not support. Processes that use another database of this MongoDB
 * count too, because an idle connection does not show its database.
 *
 * @throws {EarlierProcessesError} when there are such processes, or when MongoDB does not say
 */
export async function refuseEarlierProcesses(mongo: Pick<Mongo, 'connection'>): Promise<void> {
  const earlier = await earlierClients(mongo);
  if (earlier.length === 0) return;
  const from = hostsOf(earlier).join(', ');
  throw new EarlierProcessesError(
    'earlier-processes',
    `Processes of an earlier version of Tallyport are connected to MongoDB (from ${from}): stop or upgrade them first, because they do not know a listener that fetches.`,
  );
}

/** Null if MongoDB does not say. */
export async function connectedEarlierHosts(mongo: Pick<Mongo, 'connection'>): Promise<string[] | null> {
  try {
    return hostsOf(await earlierClients(mongo));
  } catch (error) {
    if (error instanceof EarlierProcessesError) return null;
    throw error;
  }
}

function hostsOf(clients: Connected[]): string[] {
  return [...new Set(clients.map(({ client, client_s }) => hostOf(client ?? client_s)))];
}

function hostOf(client = 'an unknown address'): string {
  return client.replace(/:\d+$/, '');
}

/** The connections of earlier processes. If the user in MONGODB_URI may see only its own connections: these. */
async function earlierClients({ connection }: Pick<Mongo, 'connection'>): Promise<Connected[]> {
  const list = (allUsers: boolean) =>
    connection
      .getClient()
      .db('admin')
      .aggregate<Connected>([
        { $currentOp: { allUsers, idleConnections: true } },
        { $match: { appName: EARLIER_CONNECTION_NAME } },
        { $project: { client: 1, client_s: 1 } },
      ])
      .toArray();
  try {
    return await list(true).catch((error: unknown) => {
      if (isUnauthorized(error)) return list(false);
      throw error;
    });
  } catch (error) {
    const remedy = isUnauthorized(error)
      ? 'give the user of MONGODB_URI the role clusterMonitor'
      : 'try again when it answers';
    throw new EarlierProcessesError(
      'processes-unknown',
      `MongoDB does not say whether processes of an earlier version of Tallyport run: ${remedy}.`,
      { cause: error },
    );
  }
}

function isUnauthorized(error: unknown): boolean {
  return error instanceof MongoServerError && error.code === UNAUTHORIZED;
}
