import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { issueToken } from '../../src/servers/api-tokens.ts';
import { atTheEnd } from '../support/at-the-end.ts';
import { addFetchingServer } from '../support/fetching.ts';
import { startApp, type TestDeps } from '../support/start-app.ts';
import { HAS_JAVA, relayBench } from './relay-process.ts';

let web: TestDeps;
beforeAll(async () => {
  web = await startApp();
  atTheEnd(() => web.close());
});

describe.skipIf(!HAS_JAVA)('the relay and the listing', () => {
  test('bring a vote from the listing to the game, and its outcome into the database', async () => {
    const server = await addFetchingServer(web);
    const bench = await relayBench();
    bench.writeConfig([
      `server=${web.url}/api/v1/servers/${server.serverId.toHexString()}`,
      `key=${server.token}`,
    ]);
    const check = bench.start(['--check']);
    await expect.poll(() => check.child.exitCode, { message: check.lines.join('\n') }).toBe(0);
    const [alice, long] = [await server.cast('Alice'), await server.cast('NameOfSeventeenCh')];
    const relay = bench.start();
    const stateOf = async ({ _id }: typeof alice) => (await server.vote(_id)).delivery.state;
    await expect.poll(() => stateOf(alice)).toBe('delivered');
    await expect.poll(() => stateOf(long)).toBe('failed');
    expect(bench.listener.votes).toMatchObject([
      { username: 'Alice', uuid: alice._id.toString(), serviceName: 'Tallyport', timestamp: +alice.votedAt },
    ]);
    const { attempts } = (await server.vote(long._id)).delivery;
    expect(attempts.at(-1)).toMatchObject({
      code: 'fetch-failed',
      words: 'CorruptedFrameException: Username too long',
    });
    await expect.poll(bench.readJournal).toMatch(new RegExp(` settled ${long._id.toString()} 1 `));
    expect(await relay.stop()).toBe(0);
    expect(relay.lines.filter((line) => line.includes('!'))).toEqual([
      expect.stringContaining('failed (CorruptedFrameException: Username too long)'),
    ]);
  });

  test('say that the key is of another kind', async () => {
    const server = await addFetchingServer(web);
    const bench = await relayBench();
    const { token } = await issueToken(web.deps, { serverId: server.serverId, name: 'other' });
    bench.writeConfig([`server=${web.url}/api/v1/servers/${server.serverId.toHexString()}`, `key=${token}`]);
    const relay = bench.start();
    await relay.says('the key may not fetch votes: issue one for fetching');
    expect(readFileSync(bench.journal, 'utf8')).not.toContain('begin');
  });
});
