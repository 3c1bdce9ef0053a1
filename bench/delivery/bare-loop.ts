/**
 * The bare peer of backlog.ts, in its own process: connects, reads the greeting, writes a signed v2 frame, reads the
 * answer, and records nothing. The parent sends the listener, the number of votes and the concurrency, and gets a message
 * at the end.
 */
import { createHmac, randomUUID } from 'node:crypto';
import net from 'node:net';

type Order = { port: number; token: string; votes: number; atOnce: number };

function frame(challenge: string, token: string, n: number): Buffer {
  const payload = JSON.stringify({
    serviceName: 'Tallyport',
    username: `bare-${n}`,
    address: '0.0.0.0',
    timestamp: Date.now(),
    challenge,
    uuid: randomUUID(),
  });
  const signature = createHmac('sha256', token).update(payload).digest('base64');
  const message = Buffer.from(JSON.stringify({ payload, signature }));
  const header = Buffer.from([0x73, 0x3a, message.length >> 8, message.length & 0xff]);
  return Buffer.concat([header, message]);
}

function send({ port, token }: Order, n: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = net.connect({ port, host: '127.0.0.1' });
    let greeted = false;
    let received = '';
    socket.setEncoding('utf8').on('error', reject);
    socket.on('data', (text: string) => {
      received += text;
      const end = received.indexOf('\n');
      if (end === -1) return;
      const reply = received.slice(0, end).trim();
      received = received.slice(end + 1);
      if (!greeted) {
        greeted = true;
        socket.write(frame(reply.split(' ')[2] ?? '', token, n));
        return;
      }
      socket.destroy();
      if (JSON.parse(reply).status === 'ok') resolve();
      else reject(new Error(reply));
    });
  });
}

process.on('message', async (order: Order) => {
  let next = 0;
  const one = async () => {
    while (next < order.votes) await send(order, next++);
  };
  await Promise.all(Array.from({ length: order.atOnce }, one));
  process.send?.('done');
});
process.on('disconnect', () => process.exit());
