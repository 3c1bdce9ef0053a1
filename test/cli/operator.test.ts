import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Cli, openCli } from './tallyport.ts';

let cli: Cli;
beforeAll(async () => {
  cli = await openCli();
});
afterAll(() => cli.close());

it('says how to create the first operator', async () => {
  const { stdout } = await cli.run('operator list');
  expect(stdout).toContain('There is no operator. A link that makes one: node src/cli.ts setup-link');
});

it('creates an operator and prints a link that sets the password once', async () => {
  const { code, json } = await cli.run('operator create --email Ada@Example.org --json');
  expect(code).toBe(0);
  expect(json).toEqual({
    user_id: expect.stringMatching(/^[0-9a-f]{24}$/),
    email: 'ada@example.org',
    is_new: true,
    link: expect.stringMatching(/^http:\/\/localhost:3000\/set-password\?token=\w{20,}$/),
  });
  expect(await cli.deps.users.findOne({ email: 'ada@example.org' })).toMatchObject({
    name: 'ada',
    role: 'operator',
    emailVerified: true,
  });
  const { stdout } = await cli.run('operator list');
  expect(stdout).toMatch(/ada@example\.org +ada +off/);
});

it('makes an existing user an operator, and says so', async () => {
  const { stdout } = await cli.run('operator create --email ada@example.org --name', 'Ada Lovelace');
  expect(stdout).toContain('had an account already and is an operator now');
  expect(stdout).toContain('The admin area needs a second factor');
  expect(await cli.deps.users.countDocuments()).toBe(1);
  const json = (await cli.run('operator list --json')).json as { operators: object[] };
  expect(json.operators).toMatchObject([
    { email: 'ada@example.org', name: 'Ada Lovelace', two_factor: false },
  ]);
});

it('prints a link for any user, and refuses an unknown address', async () => {
  const { stdout } = await cli.run('operator link --email ada@example.org');
  expect(stdout).toContain('/set-password?token=');
  const nobody = await cli.run('operator link --email nobody@example.org --json');
  expect(nobody).toMatchObject({ code: 1 });
  expect(nobody.json).toMatchObject({ code: 'user-not-found' });
  const wrong = await cli.run('operator create --email nonsense --json');
  expect(wrong.json).toEqual({ code: 'invalid-input', error: 'The email must be an e-mail address.' });
});

it('writes an audit entry for each of these, without the link', async () => {
  const entries = await cli.deps.auditLog.find({ by: 'cli' }).sort({ at: 1 }).toArray();
  expect(entries.map(({ action }) => action)).toEqual([
    'person.make-operator',
    'person.give-link',
    'person.make-operator',
    'person.give-link',
    'person.give-link',
  ]);
  expect(JSON.stringify(entries)).not.toContain('token');
});

it('takes an address that the sign-in library refuses', async () => {
  const { json } = await cli.run('operator create --email a/b@example.org --json');
  expect(json).toMatchObject({ email: 'a/b@example.org', link: expect.stringContaining('/set-password') });
});
