import { afterAll, beforeAll, expect, it } from 'vitest';
import { openTerminal, type Terminal } from './tallyport.ts';

let terminal: Terminal;
beforeAll(async () => {
  terminal = await openTerminal();
});
afterAll(() => terminal.close());

it('says how the first operator is made', async () => {
  const { stdout } = await terminal.run('operator list');
  expect(stdout).toContain('There is no operator. Make one: tallyport operator create --email ADDRESS');
});

it('makes an operator and prints a link that sets the password once', async () => {
  const { code, json } = await terminal.run('operator create --email Ada@Example.org --json');
  expect(code).toBe(0);
  expect(json).toEqual({
    person_id: expect.stringMatching(/^[0-9a-f]{24}$/),
    email: 'ada@example.org',
    is_new: true,
    link: expect.stringMatching(/^http:\/\/localhost:3000\/set-password\?token=\w{20,}$/),
  });
  expect(await terminal.platform.people.findOne({ email: 'ada@example.org' })).toMatchObject({
    name: 'ada',
    role: 'operator',
    emailVerified: true,
  });
  const { stdout } = await terminal.run('operator list');
  expect(stdout).toMatch(/ada@example\.org +ada +off/);
});

it('raises somebody who is there, and says so', async () => {
  const { stdout } = await terminal.run('operator create --email ada@example.org --name', 'Ada Lovelace');
  expect(stdout).toContain('was here already and is an operator now');
  expect(stdout).toContain('The desk asks for a second factor');
  expect(await terminal.platform.people.countDocuments()).toBe(1);
  const json = (await terminal.run('operator list --json')).json as { operators: object[] };
  expect(json.operators).toMatchObject([
    { email: 'ada@example.org', name: 'Ada Lovelace', two_factor: false },
  ]);
});

it('prints a link for anybody, and refuses what is nobody', async () => {
  const { stdout } = await terminal.run('operator link --email ada@example.org');
  expect(stdout).toContain('/set-password?token=');
  const nobody = await terminal.run('operator link --email nobody@example.org --json');
  expect(nobody).toMatchObject({ code: 1 });
  expect(nobody.json).toMatchObject({ code: 'person-not-found' });
  const wrong = await terminal.run('operator create --email nonsense --json');
  expect(wrong.json).toEqual({ code: 'invalid-input', error: 'The email must be an e-mail address.' });
});

it('notes every one of these in the audit log, without the link', async () => {
  const entries = await terminal.platform.auditLog.find({ by: 'cli' }).sort({ at: 1 }).toArray();
  expect(entries.map(({ action }) => action)).toEqual([
    'person.make-operator',
    'person.give-link',
    'person.make-operator',
    'person.give-link',
    'person.give-link',
  ]);
  expect(JSON.stringify(entries)).not.toContain('token');
});
