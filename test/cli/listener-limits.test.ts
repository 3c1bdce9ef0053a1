import { ObjectId } from 'mongodb';
import { beforeAll, expect, it } from 'vitest';
import { after, MINUTE } from '../../src/platform/clock.ts';
import type { Limited } from '../../src/platform/limits/outgoing-limit.ts';
import { startFakeHttpListener } from '../support/fake-http-listener.ts';
import { setV2 } from './listening.ts';
import { type Cli, openCli } from './tallyport.ts';

let cli: Cli;

beforeAll(async () => {
  cli = await openCli();
  return () => cli.close();
});

it('listener show says that an HTTP listener has not repeated a challenge; a test verifies it', async () => {
  const { slug } = await cli.addServer('Website');
  const site = await startFakeHttpListener();
  await cli.run(`listener set ${slug} --protocol http --url http://127.0.0.1:${site.port}/votes`);
  const before = await cli.run(`listener show ${slug}`);
  expect(before.stdout).toMatch(/State: +unverified\n/);
  expect(before.stdout).toMatch(/Challenge: +not repeated yet; a test or the first vote sends one\n/);
  expect((await cli.run(`listener test ${slug}`)).code).toBe(0);
  expect((await cli.run(`listener show ${slug} --json`)).json).toMatchObject({ state: 'active' });
});

it('listener show says until when and by which limit a listener is limited', async () => {
  const { slug, server_id } = await cli.addServer('Limited');
  await setV2(cli, slug, { port: 8_192, token: 'abcdef0123456789' });
  const until = after(new Date(), MINUTE);
  const limit = (limited: Limited) =>
    cli.deps.listeners.updateOne({ serverId: new ObjectId(server_id) }, { $set: { limited } });
  await limit({ until, by: 'account' });
  const shown = await cli.run(`listener show ${slug} --json`);
  expect(shown.json).toMatchObject({ limited_until: until.toISOString(), limited_by: 'account' });
  expect((await cli.run(`listener show ${slug}`)).stdout).toMatch(
    /Limited: +until .*: too many connections for its owner’s servers without an acknowledgement\n/,
  );
  await limit({ until: after(new Date(), -1), by: 'destination' });
  expect((await cli.run(`listener show ${slug}`)).stdout).not.toContain('Limited');
});
