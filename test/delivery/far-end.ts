import net, { type Socket } from 'node:net';
import ipaddr from 'ipaddr.js';
import { parsePublicKey } from '../../src/delivery/credentials.ts';
import type { SendOptions, VotifierTarget } from '../../src/delivery/votifier-client.ts';
import type { VotifierListener } from '../../src/sample/votifier-listener.ts';

export const VOTE = {
  id: '01998a3e-7e4b-7000-8000-0123456789ab',
  username: 'Steve',
  votedAt: new Date('2026-11-21T08:00:00.000Z'),
};

/** Long enough for loopback, short enough to wait for silence. */
export const OPTIONS: SendOptions = {
  allowedPrivateRanges: [ipaddr.parseCIDR('127.0.0.0/8')],
  timeoutMs: 200,
  mayWrite: () => true,
};

/** The settings of a listener as its owner would enter them, for either protocol. */
export function targetsOf(listener: Pick<VotifierListener, 'port' | 'token' | 'publicKeyLine'>) {
  const address = { host: '127.0.0.1', port: listener.port, serviceName: 'Tallyport' };
  const { publicKey } = parsePublicKey(listener.publicKeyLine);
  return {
    v1: { ...address, protocol: 'votifier-v1', publicKey },
    v2: { ...address, protocol: 'votifier-v2', token: listener.token },
  } satisfies Record<string, VotifierTarget>;
}

/** A far end that does what it is told to, however wrong. */
export async function farEnd(behave: (socket: Socket) => void) {
  const sockets = new Set<Socket>();
  const server = net.createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    behave(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    port: address && typeof address === 'object' ? address.port : 0,
    /** Connections that are still open. */
    sockets,
    async stop() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
