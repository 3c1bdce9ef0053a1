import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, inject, onTestFinished, test, vi } from 'vitest';
import { freePort } from '../../src/own-services/free-port.ts';
import { createLogger } from '../../src/platform/log.ts';
import { openRedis } from '../../src/platform/redis.ts';
import { environment } from '../cli/environment.ts';
import { spawnTallyport } from '../cli/tallyport-process.ts';
import { EVENTUALLY } from '../support/eventually.ts';
import { startRedisCluster } from '../support/redis-cluster.ts';
import { startRedis } from '../support/services.ts';

const log = createLogger({ LOG_LEVEL: 'silent' }, 'test');
const folder = mkdtempSync(join(tmpdir(), 'tallyport-redis-'));
const file = (name: string) => join(folder, name);

/** An authority of our own, and a certificate of it for this machine. */
beforeAll(() => {
  const openssl = (...args: string[]) => execFileSync('openssl', args, { stdio: 'ignore' });
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const ca = ['-keyout', file('ca.key'), '-out', file('ca.pem'), '-subj', '/CN=Own authority'];
  openssl('req', '-x509', ...key, '-days', '30', ...ca);
  openssl('req', ...key, '-keyout', file('own.key'), '-out', file('own.csr'), '-subj', '/CN=localhost');
  writeFileSync(file('names'), 'subjectAltName=DNS:localhost,IP:127.0.0.1');
  const by = ['-CA', file('ca.pem'), '-CAkey', file('ca.key'), '-CAcreateserial', '-extfile', file('names')];
  openssl('x509', '-req', '-in', file('own.csr'), ...by, '-days', '30', '-out', file('own.pem'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** What `config check --connect` finds in Redis, in a process of its own that knows our authority or not. */
async function checkRedis(REDIS_URL: string, knowsAuthority = false) {
  const env = environment({ REDIS_URL });
  const authority = knowsAuthority ? { NODE_EXTRA_CA_CERTS: file('ca.pem') } : {};
  const { json } = await spawnTallyport(['config', 'check', '--connect', '--json'], {
    env: { ...env, ...authority },
  });
  const services = json.services as { service: string; status: string; facts: string[]; errors: string[] }[];
  return services.find(({ service }) => service === 'redis');
}

test('after a failover behind one address, a connection that nobody closed finds the new primary', async () => {
  const [one, other] = await Promise.all([startRedis(), startRedis()]);
  onTestFinished(() => Promise.all([one.stop(), other.stop()]).then(() => undefined));
  let primary = one.port;
  const opened = new Set<net.Socket>();
  const address = net.createServer((client) => {
    const server = net.connect(primary, '127.0.0.1');
    for (const socket of [client, server]) opened.add(socket.on('error', () => undefined));
    client.pipe(server).pipe(client);
  });
  await once(address.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => {
    for (const socket of opened) socket.destroy();
    address.close();
  });
  const connection = openRedis(`redis://127.0.0.1:${(address.address() as net.AddressInfo).port}`, log);
  onTestFinished(() => connection.disconnect());
  await connection.set('key', '1');

  const admin = new Redis(one.port, '127.0.0.1');
  await admin.call('REPLICAOF', '127.0.0.1', other.port);
  admin.disconnect();
  primary = other.port;
  await expect(connection.set('key', '2')).rejects.toThrow('READONLY');
  expect((await checkRedis(`redis://127.0.0.1:${one.port}`))?.errors).toEqual([
    expect.stringContaining('REDIS_URL leads to a replica, which takes no writes'),
  ]);
  await vi.waitFor(async () => expect(await connection.set('key', '3')).toBe('OK'), EVENTUALLY);
});

test('Sentinels with a password of their own are asked with it; without it, the advice names the option', async () => {
  const server = await startRedis();
  onTestFinished(() => server.stop());
  const admin = new Redis(server.port, '127.0.0.1');
  await admin.config('SET', 'requirepass', 'of-redis');
  admin.disconnect();
  const port = await freePort();
  writeFileSync(
    file('sentinel.conf'),
    `port ${port}\nbind 127.0.0.1\ndir ${folder}\nrequirepass of+sentinel\nsentinel monitor main 127.0.0.1 ${server.port} 1\nsentinel auth-pass main of-redis\n`,
  );
  const sentinel = spawn(inject('redisBinary').path, [file('sentinel.conf'), '--sentinel'], {
    stdio: 'ignore',
  });
  onTestFinished(async () => {
    sentinel.kill();
    await once(sentinel, 'exit');
  });
  const url = `redis+sentinel://:of-redis@127.0.0.1:${port}/main`;
  await vi.waitFor(async () => {
    expect(await checkRedis(`${url}?sentinelPassword=of+sentinel`)).toMatchObject({
      status: 'ok',
      facts: [expect.stringContaining('the primary that Sentinel named'), expect.anything()],
    });
  }, EVENTUALLY);
  expect((await checkRedis(url))?.errors).toEqual([
    expect.stringMatching(
      /^Redis does not answer: .*NOAUTH.*the Sentinels ask for a password of their own: add \?sentinelPassword=/,
    ),
  ]);
  expect((await checkRedis(`${url}?sentinelPassword=another`))?.errors).toEqual([
    expect.stringMatching(/WRONGPASS.*the Sentinels refuse sentinelUsername and sentinelPassword/),
  ]);
});

test('a Cluster with TLS and an own authority connects; each wrong address gets the sentence that mends it', async () => {
  const ports = await Promise.all([freePort(), freePort(), freePort()]);
  const certificate = ['--tls-cert-file', file('own.pem'), '--tls-key-file', file('own.key')];
  const args = [...certificate, '--tls-ca-cert-file', file('ca.pem'), '--tls-auth-clients', 'no'];
  const cluster = await startRedisCluster({ ports, args });
  onTestFinished(() => cluster.stop());
  const [first] = ports;
  const url = `rediss+cluster://localhost:${first}`;

  expect(await checkRedis(url, true)).toMatchObject({
    status: 'ok',
    facts: [expect.stringContaining('a Cluster with 3 primaries'), expect.anything()],
  });
  expect((await checkRedis(url))?.errors).toEqual([
    expect.stringContaining('set NODE_EXTRA_CA_CERTS to the file'),
  ]);
  expect((await checkRedis(`rediss://localhost:${first}`, true))?.errors).toEqual([
    'REDIS_URL names a node of a Redis Cluster: write rediss+cluster://host:port,host:port.',
  ]);
  expect((await checkRedis(`rediss://127.0.0.1:${cluster.primaries[0]?.port}`, true))?.errors).toEqual([
    expect.stringContaining('begin REDIS_URL with redis, not rediss'),
  ]);
});
