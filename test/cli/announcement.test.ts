import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Cli, openCli } from './tallyport.ts';

let cli: Cli;

beforeAll(async () => {
  cli = await openCli();
});
afterAll(() => cli.close());

it('an announcement is set, shown and removed', async () => {
  expect(await cli.run('announcement show')).toMatchObject({
    code: 0,
    stdout: 'There is no announcement.\n',
  });
  const set = await cli.run('announcement set --level warning --until 2999-01-01 --json', 'We **move**.');
  expect(set).toMatchObject({
    code: 0,
    json: { text: 'We **move**.', level: 'warning', until: '2999-01-01T00:00:00.000Z' },
  });
  expect((await cli.run('announcement show')).stdout).toBe(
    'warning, until 2999-01-01T00:00:00Z:\nWe **move**.\n',
  );
  expect(await cli.run('announcement clear')).toMatchObject({
    code: 0,
    stdout: 'The announcement is removed.\n',
  });
  expect((await cli.run('announcement clear --json')).json).toEqual({ cleared: false });
  const actions = await cli.deps.auditLog
    .find()
    .map(({ by, action }) => `${by} ${action}`)
    .toArray();
  expect(actions).toEqual(['cli announcement.set', 'cli announcement.clear']);
});

it('an announcement that cannot be shown is refused', async () => {
  const over = await cli.run('announcement set --until 2020-01-01', 'Late');
  expect(over).toMatchObject({ code: 1, stderr: 'The end must be in the future.\n' });
  expect((await cli.run('announcement set', ' ')).code).toBe(1);
  expect((await cli.run('announcement set --level loud', 'x')).code).toBe(2);
  expect((await cli.run('announcement set', 'x'.repeat(1_001))).stderr).toContain('at most 1,000 characters');
});
