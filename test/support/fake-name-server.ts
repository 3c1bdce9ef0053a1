import { createSocket } from 'node:dgram';
import { Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import { onTestFinished, vi } from 'vitest';

const TYPES = { A: 1, TXT: 16, AAAA: 28, SRV: 33 } as const;

/** For each type, the record data for every name. `silent`: no answer. */
type Records = Partial<Record<keyof typeof TYPES, Buffer | 'silent'>>;

/** `names` has other data for single names. A test may change the zone while the server runs. */
export type Zone = Records & { names?: Record<string, Records> };

/** The data of a TXT record, in parts of at most 255 bytes. */
export function txt(...parts: string[]): Buffer {
  return Buffer.concat(parts.flatMap((part) => [Buffer.from([part.length]), Buffer.from(part)]));
}

/** The data of an A record. */
export function ipv4(address: string): Buffer {
  return Buffer.from(address.split('.').map(Number));
}

/** The data of an SRV record. */
export function srv(port: number, target: string): Buffer {
  const labels = target.split('.').flatMap((label) => [label.length, ...Buffer.from(label)]);
  const numbers = Buffer.alloc(6);
  numbers.writeUInt16BE(port, 4);
  return Buffer.concat([numbers, Buffer.from([...labels, 0])]);
}

/** Starts a name server on this machine, which runs until the test ends, and returns its address. */
export async function nameServer(zone: Zone): Promise<string> {
  const socket = createSocket('udp4');
  socket.on('message', (query, from) => {
    const answer = answerTo(query, zone);
    if (answer) socket.send(answer, from.port, from.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  onTestFinished(() => void socket.close());
  return `127.0.0.1:${socket.address().port}`;
}

/** Starts a name server that answers nothing. */
export const silentNameServer = () => nameServer({ A: 'silent', AAAA: 'silent', SRV: 'silent' });

function answerTo(query: Buffer, zone: Zone): Buffer | null {
  let end = 12;
  const labels: string[] = [];
  while (query[end]) {
    const next = end + (query[end] ?? 0) + 1;
    labels.push(query.toString('latin1', end + 1, next));
    end = next;
  }
  end += 5;
  const type = query.readUInt16BE(end - 4);
  const known = Object.entries(TYPES).find(([, number]) => number === type)?.[0] as keyof Records;
  const data = (zone.names?.[labels.join('.').toLowerCase()] ?? zone)[known];
  if (data === 'silent') return null;
  const header = Buffer.alloc(12);
  query.copy(header, 0, 0, 2);
  header.writeUInt16BE(0x8180, 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(data ? 1 : 0, 6);
  const question = query.subarray(12, end);
  if (!data) return Buffer.concat([header, question]);
  // An answer record: the name of the question, the type, the class, a TTL of a minute, and the length of the data.
  const record = Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 60, 0, data.length]);
  return Buffer.concat([header, question, record, data]);
}

/** Makes this process use these name servers, in this order, until the test ends. */
export function useNameServers(addresses: string[]): void {
  for (const method of ['resolve4', 'resolve6', 'resolveSrv', 'resolveTxt'] as const) {
    const resolve: (this: Resolver, name: string) => Promise<never> = Resolver.prototype[method] as never;
    const spy = vi.spyOn(Resolver.prototype, method);
    spy.mockImplementation(function (this: Resolver, name: string) {
      // Do not set the servers while another query of this resolver runs, such as the one for the second address
      // family.
      if (this.getServers().join() !== addresses.join()) this.setServers(addresses);
      return resolve.call(this, name);
    } as never);
    onTestFinished(() => spy.mockRestore());
  }
}
