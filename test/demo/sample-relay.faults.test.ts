import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { hasJava, runSampleRelay, writeVotifierFolder } from '../../src/demo/sample-relay.ts';
import { VotifierListener } from '../../src/demo/votifier-listener.ts';
import { castVote } from '../support/casting.ts';
import { EVENTUALLY } from '../support/eventually.ts';
import { startApp } from '../support/start-app.ts';

test.skipIf(!hasJava())(
  'the relay of the demo brings a vote to its server, and ends with the demo',
  async () => {
    const web = await startApp();
    onTestFinished(() => web.close());
    const { serverId, tokenId } = await web.addServer();
    const folder = await mkdtemp(join(tmpdir(), 'tallyport-demo-relay-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const listener = new VotifierListener();
    await listener.start();
    onTestFinished(() => listener.stop());
    await writeVotifierFolder(folder, listener);
    const stop = new AbortController();
    onTestFinished(() => stop.abort());
    const said: string[] = [];
    const served = { serverId, folder, url: web.url };
    const relay = runSampleRelay(web.deps, served, (text) => said.push(text), stop.signal);
    await expect
      .poll(() => web.deps.listeners.findOne({ serverId }), EVENTUALLY)
      .toMatchObject({ protocol: 'fetch' });
    await castVote(web.deps, { serverId, username: 'Steve', tokenId });
    await expect.poll(() => listener.votes.map(({ username }) => username), EVENTUALLY).toEqual(['Steve']);
    await expect
      .poll(() => web.deps.votes.findOne({ serverId }), EVENTUALLY)
      .toMatchObject({ delivery: { state: 'delivered' } });
    stop.abort();
    await relay;
    expect(said).toEqual([]);
  },
);
