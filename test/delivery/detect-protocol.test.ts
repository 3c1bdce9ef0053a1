import net, { type Socket } from 'node:net';
import { expect, it } from 'vitest';
import { type Detecting, detectProtocol } from '../../src/delivery/diagnosis/detect-service.ts';
import { freePort } from '../../src/own-services/free-port.ts';
import { readable } from '../../src/platform/printable.ts';
import { listen } from '../support/fake-http-listener.ts';

/** A service that sends nothing first, and answers each line or each message with the result of `answer`. */
const answering = (answer: (line: string) => string | Buffer | null, closesAfter = false) =>
  listen(
    net.createServer((socket: Socket) => {
      socket.on('data', (bytes) => {
        for (const line of bytes.toString('latin1').split('\r\n').filter(Boolean)) {
          const said = answer(line);
          if (said === null || socket.destroyed) continue;
          socket.write(said);
          if (closesAfter) socket.end();
        }
      });
    }),
  );

const detect = (port: number) => detectProtocol(['127.0.0.1'], port, { timeoutMs: 300 });

/** Redis 7: it answers each unknown inline command with an error, and closes at an HTTP header. */
const redis = () =>
  listen(
    net.createServer((socket) => {
      socket.on('data', (bytes) => {
        for (const line of bytes.toString('latin1').split('\r\n').filter(Boolean)) {
          const [command = ''] = line.split(' ');
          if (/^(post|host:)$/i.test(command)) return void socket.end();
          if (!/^[a-z]+$/i.test(command)) continue;
          if (command === 'GET') socket.write("-ERR wrong number of arguments for 'get' command\r\n");
          else socket.write(`-ERR unknown command '${command}', with args beginning with: 'UNKNOWN' \r\n`);
        }
      });
    }),
  );

it.each<[string, () => Promise<number>, RegExp]>([
  ['Redis', redis, /^-ERR wrong number of arguments for 'get' command/],
  [
    'Redis that answers the PROXY line only',
    () => answering((line) => (line.startsWith('PROXY') ? "-ERR unknown command 'PROXY'\r\n" : null)),
    /^-ERR unknown command 'PROXY'/,
  ],
  ['memcached', () => answering(() => 'ERROR\r\n'), /^ERROR/],
  [
    'a service that refuses with a message and closes',
    () => answering(() => '500 What is this?\r\n', true),
    /^500 What is this\?/,
  ],
])('%s has another protocol, and its answer is returned', async (_service, start, words) => {
  const detected = await detect(await start());
  if (typeof detected === 'string') throw new Error(detected);
  expect(detected.fault).toBe('other-protocol');
  expect(readable(detected.reply)).toMatch(words);
});

it.each<[string, () => Promise<number>]>([
  ['says nothing', () => answering(() => null)],
  [
    'sends a Votifier greeting late, whatever it receives',
    () =>
      listen(
        net.createServer((socket) => {
          setTimeout(() => socket.destroyed || socket.write('VOTIFIER 2 abc\n'), 50);
          socket.resume();
        }),
      ),
  ],
  ['begins to greet', () => listen(net.createServer((socket) => void socket.resume().write('VOTIF')))],
])('a service that %s has none of the known protocols', async (_what, start) => {
  expect(await detect(await start())).toBe('unrecognised');
});

it('a detection is incomplete when nothing listens, a limit leaves a question out, or the worker stops', async () => {
  expect(await detect(await freePort())).toBe('incomplete');
  const silent = await answering(() => null);
  const asked: string[] = [];
  const mayConnect = async (address: string) => asked.push(address) < 4;
  const once = (more: Partial<Detecting>) =>
    detectProtocol(['127.0.0.1'], silent, { timeoutMs: 300, ...more });
  expect(await once({ mayConnect })).toBe('incomplete');
  const began = performance.now();
  expect(await once({ timeoutMs: 60_000, stop: AbortSignal.timeout(100) })).toBe('incomplete');
  // Every question ends with the stop, also the one for TLS.
  expect(performance.now() - began).toBeLessThan(30_000);
});

it('in turn, one connection is open at a time, and the service is detected as well', async () => {
  let open = 0;
  const openAtRequests: number[] = [];
  const port = await listen(
    net.createServer((socket) => {
      open += 1;
      socket.on('close', () => {
        open -= 1;
      });
      socket.on('data', (bytes) => {
        openAtRequests.push(open);
        // It answers the third request only.
        if (bytes.includes('PROXY')) socket.write('-ERR unknown command\r\n');
      });
    }),
  );
  const detected = await detectProtocol(['127.0.0.1'], port, { timeoutMs: 400, inTurn: true });
  expect(detected).toMatchObject({ fault: 'other-protocol' });
  expect(openAtRequests).toEqual([1, 1, 1, 1]);
});
