import { Agent, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { SECOND } from '../../src/platform/clock.ts';
import { isReady, type Web } from './web.ts';

/** A load balancer that sends each request to one of the ready web processes. */
export type LoadBalancer = {
  url: string;
  /** Whether it sends requests to this process. */
  sendsTo(web: Web): boolean;
  close(): Promise<void>;
};

/**
 * Starts a simple load balancer: it checks `/readyz` of each process once a second, keeps connections alive, and does not
 * retry. A request that fails gets 502.
 */
export async function startLoadBalancer(webs: Web[]): Promise<LoadBalancer> {
  const agent = new Agent({ keepAlive: true });
  const stop = new AbortController();
  const ready = new Set(webs);
  const watching = webs.map(async (web) => {
    while (!stop.signal.aborted) {
      const answer = await isReady(web.url);
      if (answer) ready.add(web);
      // A missing answer does not count: on a busy machine an answer may be late.
      if (answer === false) ready.delete(web);
      await pause(SECOND, undefined, { signal: stop.signal }).catch(() => undefined);
    }
  });
  let turn = 0;
  const server = createServer((incoming, outgoing) => {
    const [...able] = ready;
    turn += 1;
    const web = able[turn % able.length];
    if (!web) return void outgoing.writeHead(502).end('nobody is ready');
    const { method = 'GET', url = '/', headers } = incoming;
    const forwarded = request(`${web.url}${url}`, { method, headers, agent }, (answer) => {
      const { connection: _, ...headers } = answer.headers;
      outgoing.writeHead(answer.statusCode ?? 502, headers);
      answer.pipe(outgoing);
    });
    forwarded.on('error', (error) => {
      if (!outgoing.headersSent) outgoing.writeHead(502);
      outgoing.end(String(error));
    });
    incoming.pipe(forwarded);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sendsTo: (web) => ready.has(web),
    async close() {
      stop.abort();
      await Promise.all(watching);
      agent.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
