import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Cli, openCli } from './tallyport.ts';

let cli: Cli;

beforeAll(async () => {
  cli = await openCli();
});
afterAll(() => cli.close());

it('tags are listed, added and removed', async () => {
  expect((await cli.run('tag list')).stdout).toMatch(/^survival +Survival$/m);
  const added = await cli.run('tag add --json', 'Sky Wars');
  expect(added).toMatchObject({ code: 0, json: { key: 'sky-wars', name: 'Sky Wars' } });
  expect((await cli.run('tag list')).stdout).toMatch(/^sky-wars +Sky Wars$/m);
  expect(await cli.run('tag add', 'Sky Wars')).toMatchObject({
    code: 1,
    stderr: 'The tag “Sky Wars” exists.\n',
  });

  const { server_id } = await cli.addServer('Tagged');
  await cli.deps.servers.updateOne({}, { $set: { 'profile.tags': ['survival', 'sky-wars'] } });
  const removed = await cli.run('tag remove sky-wars');
  expect(removed).toMatchObject({ code: 0, stdout: '“Sky Wars” is removed; 1 server had it.\n' });
  const [server] = await cli.deps.servers.find().toArray();
  expect(server?._id.toHexString()).toBe(server_id);
  expect(server?.profile?.tags).toEqual(['survival']);
  expect(await cli.run('tag remove sky-wars --json')).toMatchObject({
    code: 1,
    json: { code: 'tag-not-found' },
  });
});
