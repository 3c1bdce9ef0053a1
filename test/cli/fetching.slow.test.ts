import { MongoClient, ObjectId, UUID } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { awaitTake, fetchingListener, noteTake } from '../../src/delivery/fetch/fetching-listener.ts';
import { startMongod } from '../support/services.ts';
import { type Cli, openCli } from './tallyport.ts';

let cli: Cli;
beforeAll(async () => {
  cli = await openCli();
});
afterAll(() => cli.close());

/** What a web process does with a take. */
async function take(serverId: ObjectId, agent: string): Promise<void> {
  const listener = await fetchingListener(cli.deps, serverId);
  if (listener) await noteTake(cli.deps, listener, agent);
}

describe('a server that fetches its votes', () => {
  it('is set without an address, shown, tested by its next take, and gets a token that does only this', async () => {
    const { slug, server_id } = await cli.addServer('Fetching');
    const id = new ObjectId(server_id);
    const set = await cli.run(`listener set ${slug} --protocol fetch`);
    expect([set.code, set.stdout]).toEqual([
      0,
      expect.stringContaining(`token issue ${slug} --kind deliver --name relay`),
    ]);
    const { json: issued } = await cli.run(`token issue ${slug} --kind deliver --name relay --json`);
    expect(issued.token).toMatch(/^tpd_\w{36}$/);
    expect((await cli.run(`token list ${slug} --json`)).json.tokens).toMatchObject([
      { kind: 'deliver', scopes: [] },
    ]);
    expect((await cli.run(`token issue ${slug} --kind deliver --scopes vote`)).code).toBe(2);
    expect((await cli.run(`listener show ${slug}`)).stdout).toMatch(/Fetched: +never/);

    const testing = cli.run(`listener test ${slug} --json`);
    const taking = setInterval(() => void take(id, 'relay/1.0'), 100);
    const tested = await testing;
    clearInterval(taking);
    expect(tested).toMatchObject({
      code: 0,
      json: { outcome: 'delivered', fault: null, detail: 'relay/1.0' },
    });
    const { json: shown } = await cli.run(`listener show ${slug} --json`);
    expect(shown).toMatchObject({
      protocol: 'fetch',
      host: null,
      port: null,
      state: 'active',
      fetched_by: 'relay/1.0',
      secret_readable: true,
    });
    expect(shown.last_fetched_at).toEqual(expect.any(String));
  });

  it('shows votes that a taker sent without a confirmation, and no paused queue', async () => {
    const { slug, server_id } = await cli.addServer('Taken');
    await cli.run(`listener set ${slug} --protocol fetch`);
    const waiting = await cli.cast(server_id, 'Alex');
    const sent = new UUID(await cli.cast(server_id, 'Steve'));
    const delivered = {
      'delivery.state': 'delivered',
      'delivery.codes': { 'sent-not-confirmed': 1 },
    } as const;
    await cli.deps.votes.updateOne({ _id: sent }, { $set: delivered });
    const queue = cli.deps.queues['forward-votes'];
    await queue.pause();
    onTestFinished(() => queue.resume());
    const { stdout } = await cli.run(`listener show ${slug}`);
    expect(stdout).toMatch(/^Sent, not confirmed: +1 vote that nothing confirmed, counted as delivered\. /m);
    for (const shown of [stdout, (await cli.run(`vote show ${waiting}`)).stdout]) {
      expect(shown).not.toMatch(/v1|paused/);
    }
    expect((await cli.run(`listener resume ${slug}`)).stdout).not.toContain('paused');
  });

  it('takes no options of other protocols', async () => {
    const { slug } = await cli.addServer('Strict');
    const refused = await cli.run(`listener set ${slug} --protocol fetch --host mc.example.org`);
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('no address, token or key')]);
  });

  it('is told when nothing came while the test waited', async () => {
    const { slug, server_id } = await cli.addServer('Quiet');
    await cli.run(`listener set ${slug} --protocol fetch`);
    const listener = await cli.deps.listeners.findOne({ serverId: new ObjectId(server_id) });
    if (!listener) throw new Error('no listener');
    expect(await awaitTake(cli.deps, listener, 300)).toBeNull();
    expect(await cli.deps.listeners.findOne({ _id: listener._id })).not.toHaveProperty('fetchAwaitedAt');
  });

  it('is refused while processes of an earlier version are connected', async () => {
    // A mongod of its own: connections of an earlier version count for all databases on it.
    const mongod = await startMongod();
    onTestFinished(() => mongod.stop());
    const cli = await openCli({ MONGODB_URI: `${mongod.uri.replace(/\/$/, '')}/fetching` });
    onTestFinished(() => cli.close());
    const { slug } = await cli.addServer('Too early');
    const earlier = await new MongoClient(cli.deps.config.MONGODB_URI, { appName: 'tallyport' }).connect();
    await earlier.db().command({ ping: 1 });
    const refused = await cli.run(`listener set ${slug} --protocol fetch --json`);
    await earlier.close();
    expect(refused).toMatchObject({
      code: 1,
      json: { code: 'earlier-processes', error: expect.stringContaining('127.0.0.1') },
    });
    expect((await cli.run(`listener set ${slug} --protocol fetch`)).code).toBe(0);
  });
});
