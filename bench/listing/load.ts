/** Requests pages as fast as possible, in its own process: `{url, paths, seconds, connections}` → figures. */
import autocannon from 'autocannon';

export type Load = { url: string; paths: string[]; seconds: number; connections: number };
export type Answered = { perSecond: number; p99Ms: number; failed: number };

process.on('message', async ({ url, paths, seconds, connections }: Load) => {
  let next = 0;
  const result = await autocannon({
    url,
    connections,
    duration: seconds,
    requests: [
      {
        setupRequest(request) {
          next += 1;
          // Each request has another client address, because the requests of one address are limited.
          const from = `10.${(next >> 16) & 255}.${(next >> 8) & 255}.${next & 255}`;
          const path = paths[next % paths.length] ?? '/';
          return { ...request, path, headers: { ...request.headers, 'x-forwarded-for': from } };
        },
      },
    ],
  });
  const answered: Answered = {
    perSecond: result['2xx'] / result.duration,
    p99Ms: result.latency.p99,
    failed: result.errors + result.timeouts + result.non2xx,
  };
  process.send?.(answered);
});
process.on('disconnect', () => process.exit());
