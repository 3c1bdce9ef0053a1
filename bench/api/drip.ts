/**
 * Opens connections that send one byte each ten seconds and never finish a request, in its own process: `{port, sockets,
 * addresses}`. A connection that is closed is opened again ten seconds later. Each second it reports how many were accepted.
 */
import { connect } from 'node:net';

export type Drip = { port: number; sockets: number; addresses: number };
export type Dripping = { opened: number };

const BYTE_EVERY_MS = 10_000;
const AGAIN_MS = 10_000;
/** How many are opened at once; the next ones follow after a turn of the event loop. */
const BURST = 200;

process.on('message', async ({ port, sockets, addresses }: Drip) => {
  let opened = 0;
  const dripOn = (n: number) => {
    // Linux answers on all of 127.0.0.0/8, so each local address looks like another client.
    const localAddress = `127.0.1.${1 + (n % addresses)}`;
    const socket = connect({ port, host: '127.0.0.1', localAddress, allowHalfOpen: true });
    let timer: NodeJS.Timeout | undefined;
    socket.on('connect', () => {
      opened += 1;
      socket.write('GET / HTTP/1.1\r\nHost: x\r\na: ');
      timer = setInterval(() => socket.write('x'), BYTE_EVERY_MS);
    });
    socket.resume();
    socket.on('error', () => undefined);
    socket.on('close', () => {
      clearInterval(timer);
      setTimeout(() => dripOn(n), AGAIN_MS);
    });
  };
  setInterval(() => process.send?.({ opened } satisfies Dripping), 1_000);
  for (let n = 0; n < sockets; n += 1) {
    dripOn(n);
    if (n % BURST === 0) await new Promise((resolve) => setTimeout(resolve, 20));
  }
});
process.on('disconnect', () => process.exit());
