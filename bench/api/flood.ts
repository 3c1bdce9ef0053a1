/** Floods a web process from one address, in its own process: `{port, connections, seconds, request}`. Reports the answers. */
import autocannon from 'autocannon';

type FloodRequest = { method: 'GET' | 'POST'; path: string; headers: Record<string, string>; body?: string };
export type Flood = { port: number; connections: number; seconds: number; request: FloodRequest };
export type Flooded = { answers: number; byStatus: Record<string, number>; mbit: number };

process.on('message', async ({ port, connections, seconds, request }: Flood) => {
  const { path, ...rest } = request;
  const url = `http://127.0.0.1:${port}${path}`;
  const result = await autocannon({ url, connections, duration: seconds, timeout: 30, ...rest });
  const byStatus = Object.fromEntries(
    Object.entries(result.statusCodeStats ?? {}).map(([status, { count = 0 }]) => [status, count]),
  );
  const answers = Object.values(byStatus).reduce((sum, count) => sum + count, 0);
  const sent = (request.body?.length ?? 0) + path.length;
  process.send?.({ answers, byStatus, mbit: (8e-6 * sent * answers) / seconds } satisfies Flooded);
});
process.on('disconnect', () => process.exit());
