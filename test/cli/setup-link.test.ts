import { afterAll, beforeAll, expect, test } from 'vitest';
import { createOperator } from '../../src/accounts/users.ts';
import { type Cli, openCli } from './tallyport.ts';

let cli: Cli;
beforeAll(async () => {
  cli = await openCli();
});
afterAll(() => cli.close());

test('setup-link prints a link with its code in the fragment, and stores only a hash of the code', async () => {
  const { code, stdout, stderr } = await cli.run('setup-link');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const [, token = ''] = /^ {2}http:\/\/localhost:3000\/setup#token=([\w-]{32})$/m.exec(stdout) ?? [];
  expect(token).not.toBe('');
  expect(stdout).toContain('It works once, within an hour');
  const stored = await cli.deps.verifications.find().toArray();
  expect(stored).toMatchObject([{ identifier: expect.stringMatching(/^setup:[\w-]{43}$/), value: 'setup' }]);
  expect(JSON.stringify(stored)).not.toContain(token);
  // With an entry, no backup could be restored into this database.
  expect(await cli.deps.auditLog.countDocuments()).toBe(0);
});

test('with --json it prints the link only', async () => {
  const { json } = await cli.run('setup-link --json');
  expect(json).toEqual({ link: expect.stringMatching(/^http:\/\/localhost:3000\/setup#token=[\w-]{32}$/) });
  expect(await cli.deps.verifications.countDocuments()).toBe(1);
});

test('on a site with an operator it is refused, and says how to set a new password', async () => {
  await createOperator(cli.deps, { email: 'ada@example.org' }, { userId: null, by: 'cli' });
  const { code, stderr } = await cli.run('setup-link');
  expect(code).toBe(1);
  expect(stderr).toContain('This site has an operator already');
  expect(stderr).toContain('operator link --email ADDRESS');
  expect((await cli.run('setup-link --json')).json).toMatchObject({ code: 'has-operator' });
});
