import net from 'node:net';
import { expect, it, onTestFinished, vi } from 'vitest';
import { startRedis } from '../support/services.ts';
import { startWorker } from '../support/worker-process.ts';
import { addGameServer, castingPlatform, PATIENT } from './game-server.ts';

it('half-open', async () => {
  const redis = await startRedis();
  onTestFinished(() => redis.stop());
  const pairs = new Set<[net.Socket, net.Socket]>();
  const proxy = net.createServer((a) => {
    const b = net.connect(redis.port, '127.0.0.1');
    a.pipe(b); b.pipe(a);
    a.on('error', () => b.destroy()); b.on('error', () => a.destroy());
    pairs.add([a, b]);
  });
  await new Promise<void>((r) => proxy.listen(0, '127.0.0.1', r));
  onTestFinished(() => { for (const [a, b] of pairs) { a.destroy(); b.destroy(); } proxy.close(); });
  const port = (proxy.address() as net.AddressInfo).port;
  const platform = await castingPlatform({ REDIS_URL: `redis://127.0.0.1:${port}` });
  const alpha = await addGameServer(platform);
  const worker = await startWorker(platform.config, {env: {LOG_LEVEL: 'debug', DEBUG: 'ioredis:connection,ioredis:redis'}});
  await alpha.cast('first');
  await vi.waitUntil(async () => (await alpha.count('delivered')) === 1, PATIENT);
  for (const [a, b] of pairs) { a.unpipe(b); b.unpipe(a); a.pause(); b.destroy(); }
  const t = performance.now();
  for (let n = 0; n < 5; n += 1) await alpha.cast(`p${n}`);
  const ok = await vi.waitUntil(async () => (await alpha.count('delivered')) === 6, { timeout: 30_000, interval: 100 }).catch(() => false);
  console.log('delivered', ok, performance.now() - t);
  console.log(worker.lines.map((l) => `${l.time} ${l.event} ${l.reason ?? ''}`).slice(-30)); console.log(worker.errors.slice(-60).join('\n'));
}, 150_000);
