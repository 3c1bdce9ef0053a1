/**
 * The bare peer of backlog.ts, in a process of its own: connects, reads the greeting, writes a signed v2 frame,
 * reads the answer, and records nothing. Told how many votes to send where and how many at once; tells when done.
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
    let heard = '';
    socket.setEncoding('utf8').on('error', reject);
    socket.on('data', (text: string) => {
      heard += text;
      const line = heard.indexOf('\n');
      if (line === -1) return;
      const said = heard.slice(0, line).trim();
      heard = heard.slice(line + 1);
      if (!greeted) {
        greeted = true;
        socket.write(frame(said.split(' ')[2] ?? '', token, n));
        return;
      }
      socket.destroy();
      if (JSON.parse(said).status === 'ok') resolve();
      else reject(new Error(said));
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
