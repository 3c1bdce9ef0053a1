import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** `dripping`: it never ends its headers. `limited`: 429 with `Retry-After: 1`. */
export type WebsiteKind = 'good' | 'dripping' | 'limited';

/** A website that takes votes and events. `onMessage` gets the type and data of each that is not a challenge. */
export async function startWebsite(
  kind: WebsiteKind,
  onMessage: (type: string, data: Record<string, string>) => void = () => undefined,
): Promise<{ url: string; close(): void }> {
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece);
    const { type, data } = JSON.parse(Buffer.concat(pieces).toString('utf8'));
    if (kind === 'dripping') return drip(response);
    if (type.endsWith('.challenge')) return void response.end(JSON.stringify({ challenge: data.challenge }));
    if (kind === 'limited') return void response.writeHead(429, { 'retry-after': '1' }).end();
    onMessage(type, data);
    response.writeHead(204).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

function drip(response: ServerResponse): void {
  response.socket?.write('HTTP/1.1 200 OK\r\nX-Slow: ');
  const dripping = setInterval(() => response.socket?.write('a'), 200);
  response.on('close', () => clearInterval(dripping));
}
