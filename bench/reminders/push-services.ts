/**
 * Push services over TLS, one on each port, which answer 201. `due-reminders.ts` starts it, and gets the ports, and then
 * how many messages they got.
 *
 *   node bench/reminders/push-services.ts [services] [milliseconds until an answer]
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';

/** `open`: messages that were not answered yet, at most. */
export type Received = { ports: number[]; messages: number; open: number };

const [services = 1, answerMs = 5] = process.argv.slice(2).map(Number);
const REPORT_EVERY_MS = 100;
/** It names 127.0.0.1. */
const pem = readFileSync(new URL('../../test/support/certificates/votes.pem', import.meta.url));
const received: Received = { ports: [], messages: 0, open: 0 };
let open = 0;

for (let n = 0; n < services; n += 1) {
  const server = createServer({ key: pem, cert: pem }, (request, response) => {
    open += 1;
    received.open = Math.max(received.open, open);
    request.resume().on('end', () =>
      setTimeout(() => {
        open -= 1;
        received.messages += 1;
        response.writeHead(201).end();
      }, answerMs),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  received.ports.push((server.address() as AddressInfo).port);
}
const report = () => process.send?.(received);
report();
setInterval(report, REPORT_EVERY_MS);
process.on('disconnect', () => process.exit());
