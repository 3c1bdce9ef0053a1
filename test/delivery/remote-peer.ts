import { once } from 'node:events';
import net, { type Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import ipaddr from 'ipaddr.js';
import { onTestFinished } from 'vitest';
import { parsePublicKey } from '../../src/delivery/credentials.ts';
import {
  type SendOptions,
  sendVote,
  type TimedOutcome,
  type VotifierTarget,
} from '../../src/delivery/votifier/votifier-client.ts';
import { VotifierListener } from '../../src/demo/votifier-listener.ts';

export const VOTE = {
  id: '01998a3e-7e4b-7000-8000-0123456789ab',
  username: 'Steve',
  votedAt: new Date('2026-11-21T08:00:00.000Z'),
};

/** Long enough for loopback, and short enough for tests of silent peers. */
export const OPTIONS: SendOptions = {
  ranges: { ALLOWED_PRIVATE_RANGES: [ipaddr.parseCIDR('127.0.0.0/8')], REFUSED_RANGES: [] },
  timeoutMs: 300,
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

/** A resolver that returns these addresses for every name. */
export function answering(...addresses: string[]) {
  return async (_name: string) => addresses.map((address) => ({ address }));
}

/** A resolver that never answers. */
export function silent(): Promise<never> {
  return new Promise(() => {});
}

/** Sends the vote of these tests. */
export function send(to: VotifierTarget, options: Partial<SendOptions> = {}): Promise<TimedOutcome> {
  return sendVote(to, VOTE, { ...OPTIONS, ...options });
}

/** A fake Votifier listener that runs until the test ends. */
export async function running(): Promise<VotifierListener> {
  const listener = new VotifierListener();
  await listener.start();
  onTestFinished(() => listener.stop());
  return listener;
}

/** A remote peer that handles each connection with a given function, however wrong, until the test ends. */
export async function remotePeer(behave: (socket: Socket) => void) {
  const sockets = new Set<Socket>();
  const server = net.createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    behave(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address();
  const port = address && typeof address === 'object' ? address.port : 0;
  /** `sockets`: the connections that are still open. */
  return { target: v2Target(port), sockets };
}

/**
 * A remote peer in its own thread, which continues while the main thread is blocked. It runs the given JavaScript,
 * which must pass its port to `listening`.
 */
export async function peerThread(script: string): Promise<VotifierTarget> {
  const hand = "const listening = (port) => require('node:worker_threads').parentPort.postMessage(port);";
  const thread = new Worker(hand + script, { eval: true });
  onTestFinished(async () => void (await thread.terminate()));
  const [port] = await once(thread, 'message');
  return v2Target(Number(port));
}

function v2Target(port: number): VotifierTarget {
  return { protocol: 'votifier-v2', host: '127.0.0.1', port, serviceName: 'Tallyport', token: 'secret' };
}

/** A listener that accepts no connection and whose backlog is full. */
export async function deafTarget(): Promise<VotifierTarget> {
  const target = await peerThread(`
    require('node:net').createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, function () {
      listening(this.address().port);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
    })`);
  for (;;) {
    const filler = net.connect({ port: target.port, host: target.host }).on('error', () => {});
    onTestFinished(() => void filler.destroy());
    const connected = once(filler, 'connect').then(() => true);
    const swallowed = new Promise((resolve) => setTimeout(() => resolve(false), 200));
    if (!(await Promise.race([connected, swallowed]))) return target;
  }
}
