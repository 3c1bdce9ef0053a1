import { once } from 'node:events';
import { connect } from 'node:net';
import { type Db, MongoClient, type TopologyDescription } from 'mongodb';
import { SECOND } from './clock.ts';
import { hostOf } from './host-and-port.ts';

const CONNECT_MS = SECOND;

const NAMES_ADVICE = 'give them names that every machine of Tallyport can reach (rs.reconfig)';

/**
 * Adds the members to the error of a replica set that answers at the address of MONGODB_URI, and announces only members
 * with other names, of which none answers. The driver forgets the address then, and its error names no cause.
 */
export function addMembersTo(error: unknown, uri: string): void {
  // The names of `mongodb+srv` come from DNS.
  if (!(error instanceof Error && 'reason' in error) || uri.startsWith('mongodb+srv:')) return;
  const { setName, servers } = Object(error.reason) as Partial<TopologyDescription>;
  const given = new Set(new MongoClient(uri).options.hosts.map(String));
  const announced = [...(servers?.values() ?? [])];
  const isReachable = announced.some(({ address, type }) => type !== 'Unknown' || given.has(address));
  if (!setName || announced.length === 0 || isReachable) return;
  const names = announced.map(({ address }) => address).join(', ');
  const direct = ', or add directConnection=true to MONGODB_URI while the set has one member';
  error.message += `; the replica set ${setName} names its members ${names}, and none of these answers: ${NAMES_ADVICE}${announced.length === 1 ? direct : ''}`;
}

/** A sentence for each member that may become the primary and accepts no connection from here. */
export async function unreachableMembers(db: Db): Promise<string[]> {
  const { setName, hosts = [] } = await db.command({ hello: 1 });
  const members = setName ? (hosts as string[]) : [];
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
  const url = new URL(`mongodb://${member}`);
  const socket = connect({ host: hostOf(url), port: Number(url.port || 27_017) });
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(CONNECT_MS) });
    return null;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    if (error.name === 'AbortError') return `no connection within ${CONNECT_MS / SECOND} s`;
    // The error of a name with several addresses has no message.
    return error.message || String((error as NodeJS.ErrnoException).code);
  } finally {
    socket.destroy();
  }
}
