import { Agent, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { SECOND } from '../../src/platform/clock.ts';

/** A web process. */
type Web = { url: string };

/** A load balancer. It sends each request to one of the ready web processes. */
export type LoadBalancer = {
  url: string;
  /** Whether it sends requests to this process. */
  sendsTo(web: Web): boolean;
  /** Sends no more requests to this process, and waits until its running requests are answered. */
  drain(web: Web): Promise<void>;
  /** Ends `drain`: the process gets requests again as soon as it is ready. */
  restore(web: Web): void;
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
  const drained = new Set<Web>();
  const underWay = new Map<Web, number>();
  const watching = webs.map(async (web) => {
    while (!stop.signal.aborted) {
      const answer = await isReady(web.url);
      if (answer && !drained.has(web)) ready.add(web);
      // If there is no answer, nothing changes: on a busy machine an answer may be late.
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
    underWay.set(web, (underWay.get(web) ?? 0) + 1);
    outgoing.once('close', () => underWay.set(web, (underWay.get(web) ?? 0) - 1));
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
  // Idle connections stay open: otherwise a client may send its next request just when its connection is closed.
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sendsTo: (web) => ready.has(web),
    async drain(web) {
      drained.add(web);
      ready.delete(web);
      while (underWay.get(web)) await pause(20);
    },
    restore: (web) => void drained.delete(web),
    async close() {
      stop.abort();
      await Promise.all(watching);
      agent.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Whether `/readyz` answers 200; undefined if there is no answer within a second. */
export async function isReady(url: string): Promise<boolean | undefined> {
  try {
    return (await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(SECOND) })).ok;
  } catch (error) {
    return error instanceof DOMException ? undefined : false;
  }
}
