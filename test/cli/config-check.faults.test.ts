import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Redis } from 'ioredis';
import { MongoClient } from 'mongodb';
import { expect, it, onTestFinished } from 'vitest';
import { freePort } from '../../src/own-services/free-port.ts';
import { startFaultProxy } from '../support/fault-proxy.ts';
import { startRedisCluster } from '../support/redis-cluster.ts';
import { initiate, primaryOf, startReplicaSet } from '../support/replica-set.ts';
import { startMongod, startRedis } from '../support/services.ts';
import { environment } from './environment.ts';
import { tallyport } from './tallyport.ts';

type Service = { service: string; status: string; facts: string[]; warnings: string[]; errors: string[] };

/** What `config check --connect` finds in one service. */
async function check(name: string, changes: Record<string, string>): Promise<Service | undefined> {
  const { json, stdout } = await tallyport(['config', 'check', '--connect', '--json'], {
    env: environment(changes),
  });
  expect(stdout).not.toContain('hunter2-hunter2');
  return (json.services as Service[]).find(({ service }) => service === name);
}

it('a proxy that sets Referrer-Policy: no-referrer is named; a site that cannot be opened is a warning', async () => {
  const policies = ['same-origin, no-referrer', 'same-origin'];
  const proxy = createServer((_request, reply) =>
    reply.setHeader('referrer-policy', policies.shift() ?? '').end(),
  );
  await once(proxy.listen(0, '127.0.0.1'), 'listening');
  const { port } = proxy.address() as AddressInfo;
  const PUBLIC_URL = `http://127.0.0.1:${port}`;
  expect(await check('site', { PUBLIC_URL })).toMatchObject({
    status: 'ok',
    facts: [`${PUBLIC_URL} answers with 200.`],
    warnings: [expect.stringMatching(/^A proxy in front of the site sets Referrer-Policy: no-referrer\./)],
  });
  expect(await check('site', { PUBLIC_URL })).toMatchObject({ warnings: [] });
  proxy.close();
  expect(await check('site', { PUBLIC_URL })).toMatchObject({
    facts: [expect.stringMatching(/^Nothing answers/)],
  });
  expect(await check('site', { PUBLIC_URL: 'https://votes.example.invalid' })).toMatchObject({
    status: 'ok',
    warnings: [expect.stringContaining('https://votes.example.invalid cannot be opened from here')],
  });
});

it('a Redis that may evict jobs is an error', async () => {
  const redis = await startRedis({ args: ['--maxmemory-policy', 'allkeys-lru', '--appendonly', 'no'] });
  onTestFinished(() => redis.stop());

  expect(await check('redis', { REDIS_URL: redis.url })).toMatchObject({
    status: 'failed',
    facts: [expect.stringContaining('answers: a single server.')],
    warnings: [expect.stringContaining('no append-only file')],
    errors: [
      'maxmemory-policy is allkeys-lru: set noeviction, or Redis removes jobs when its memory is full.',
    ],
  });
});

it('a wrong password is an error that does not show it', async () => {
  const redis = await startRedis();
  onTestFinished(() => redis.stop());
  const admin = new Redis(redis.url);
  await admin.config('SET', 'requirepass', 'right');
  const found = await check('redis', { REDIS_URL: redis.url.replace('//', '//:hunter2-hunter2@') });
  await admin.config('SET', 'requirepass', '');
  await admin.quit();

  expect(found).toMatchObject({
    status: 'failed',
    errors: [expect.stringMatching(/^Redis does not answer: WRONGPASS /)],
  });
});

it('a Cluster needs redis+cluster://, and each primary is checked', async () => {
  const cluster = await startRedisCluster();
  onTestFinished(() => cluster.stop());

  expect(await check('redis', { REDIS_URL: cluster.url })).toMatchObject({
    status: 'ok',
    facts: [
      expect.stringContaining('answers: a Cluster with 3 primaries.'),
      'maxmemory-policy is noeviction.',
    ],
  });
  expect(await check('redis', { REDIS_URL: cluster.url.replace('+cluster', '') })).toMatchObject({
    status: 'failed',
    errors: ['REDIS_URL names a node of a Redis Cluster: write redis+cluster://host:port,host:port.'],
  });
});

it('a replica set is named with its members', async () => {
  const mongod = await startMongod({ args: ['--replSet', 'listing'] });
  onTestFinished(() => mongod.stop());
  const host = `127.0.0.1:${mongod.port}`;
  const client = new MongoClient(mongod.uri, { directConnection: true });
  await client.db('admin').command({ replSetInitiate: { _id: 'listing', members: [{ _id: 0, host }] } });
  await client.close();
  const found = await check('mongodb', { MONGODB_URI: `mongodb://${host}/checked?replicaSet=listing` });

  expect(found?.facts).toEqual([expect.stringContaining('answers: the replica set listing with 1 member.')]);
});

it('a replica set that announces a name which cannot be reached is named, with directConnection', async () => {
  const mongod = await startMongod({ args: ['--replSet', 'listing'] });
  onTestFinished(() => mongod.stop());
  const name = await startFaultProxy(mongod.port, 'mongodb');
  await initiate('listing', mongod.port, [`127.0.0.1:${name.port}`], 1_000);
  await primaryOf([mongod.port]);
  const MONGODB_URI = `mongodb://127.0.0.1:${mongod.port}/checked`;
  const [fact] = (await check('mongodb', { MONGODB_URI }))?.facts ?? [];
  expect(fact).toMatch('answers: the replica set listing with 1 member.');

  await name.close();
  const announced = `127.0.0.1:${name.port}`;
  expect(await check('mongodb', { MONGODB_URI })).toMatchObject({
    status: 'failed',
    errors: [
      expect.stringContaining(
        `the replica set listing names its members ${announced}, and none of these answers: give them names that every machine of Tallyport can reach (rs.reconfig), or add directConnection=true to MONGODB_URI while the set has one member.`,
      ),
    ],
  });
  const direct = await check('mongodb', { MONGODB_URI: `${MONGODB_URI}?directConnection=true` });
  expect(direct?.facts).toEqual([fact]);
});

it('a member of a replica set that cannot be reached is named before it is needed', async () => {
  const set = await startReplicaSet();
  onTestFinished(() => set.stop());
  const primary = await set.primary();
  const [other] = set.members.filter((member) => member !== primary);
  await other?.kill();
  expect((await check('mongodb', { MONGODB_URI: set.uri('checked') }))?.warnings).toContainEqual(
    expect.stringMatching(
      new RegExp(
        `^The member 127.0.0.1:${other?.port} of the replica set rs cannot be reached from here \\(.*ECONNREFUSED`,
      ),
    ),
  );
});

it('a Redis that does not start is named with what may be deleted', async () => {
  const port = await freePort();
  expect(await check('redis', { REDIS_URL: `redis://127.0.0.1:${port}` })).toMatchObject({
    status: 'failed',
    errors: [
      expect.stringMatching(/ECONNREFUSED.*with Compose, the volume “valkey”\): it holds no votes\.$/),
    ],
  });
});
