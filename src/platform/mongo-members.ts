import { once } from 'node:events';
import { connect } from 'node:net';
import { type Db, MongoClient, type TopologyDescription } from 'mongodb';
import { SECOND } from './clock.ts';

/** How long a member may take to accept a connection. */
const CONNECT_MS = SECOND;

const NAMES_ADVICE = 'give them names that every machine of Tallyport can reach (rs.reconfig)';

/**
 * Adds the members to the error of a replica set that answers at the address of MONGODB_URI, but announces members of
 * which none answers. The driver uses only the announced names, and its error does not say where they come from.
 */
export function nameMembers(error: unknown, uri: string): void {
  if (!(error instanceof Error && 'reason' in error)) return;
  const { setName, servers } = Object(error.reason) as Partial<TopologyDescription>;
  const given = new Set(new MongoClient(uri).options.hosts.map(String));
  const announced = [...(servers?.keys() ?? [])].filter((host) => !given.has(host));
  if (!setName || announced.length === 0) return;
  const direct = ', or add directConnection=true to MONGODB_URI while the set has one member';
  error.message += `; the replica set ${setName} names its members ${announced.join(', ')}, and none answers: ${NAMES_ADVICE}${announced.length === 1 ? direct : ''}`;
}

/** A sentence for each member with data that accepts no connection from here: after a failover it may be the primary. */
export async function unreachableMembers(db: Db): Promise<string[]> {
  const { setName, hosts = [], passives = [] } = await db.command({ hello: 1 });
  const members = setName ? ([...hosts, ...passives] as string[]) : [];
  // The only member has just answered, whatever its name leads to.
  if (members.length <= 1) return [];
  const reasons = await Promise.all(members.map(whyUnreachable));
  return members.flatMap((member, index) =>
    reasons[index]
      ? [
          `The member ${member} of the replica set ${setName} cannot be reached from here (${reasons[index]}). If it becomes the primary, votes are refused: ${NAMES_ADVICE}.`,
        ]
      : [],
  );
}

async function whyUnreachable(member: string): Promise<string | null> {
  const { hostname, port } = new URL(`mongodb://${member}`);
  const socket = connect({ host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 27_017) });
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(CONNECT_MS) });
    return null;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return error.name === 'AbortError' ? `no connection within ${CONNECT_MS / SECOND} s` : error.message;
  } finally {
    socket.destroy();
  }
}
