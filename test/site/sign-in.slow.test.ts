import { expect, inject, onTestFinished, test } from 'vitest';
import { openAppDeps } from '../../src/process/app-deps.ts';
import { freshNames } from '../support/databases.ts';
import { startFaultProxy } from '../support/fault-proxy.ts';
import { PASSWORD, signIn } from '../support/sign-in.ts';
import { testDeps } from '../support/test-deps.ts';
import { CHEAP_PASSWORDS, getPage, openWebApp, openWebAppOn, sendForm } from '../support/web-app.ts';
import { sendSignIn } from './account-pages.ts';

const NEWCOMER = { name: 'Nora Newcomer', email: 'Nora@Example.org', password: PASSWORD };

test('a password is hashed with the cost of production, and signs its user in', async () => {
  const web = await openWebAppOn(await testDeps());
  expect((await sendForm(web, '/sign-up', NEWCOMER)).statusCode).toBe(303);
  expect(await web.deps.credentials.findOne({})).toMatchObject({
    password: expect.stringMatching(/^scrypt\$32768\$8\$3\$/),
  });
  expect((await sendSignIn(web, 'nora@example.org')).statusCode).toBe(303);
});

test('two simultaneous sign-ups with one address on two processes create one user', async () => {
  const first = await openWebApp();
  const { deps } = first;
  // Two processes have nothing in common but the database.
  const other = await openAppDeps(deps.config, 'test');
  onTestFinished(() => other.close());
  const second = await openWebAppOn({ ...other, passwords: CHEAP_PASSWORDS });
  const answers = await Promise.all(
    [first, second, first, second].map((web) => sendForm(web, '/sign-up', NEWCOMER)),
  );
  const [made, ...refused] = answers.map(({ statusCode }) => statusCode).toSorted();
  expect(made).toBe(303);
  // A mailbox may have two new accounts a day, so the third simultaneous one may be refused by that limit first.
  for (const status of refused) expect([409, 429]).toContain(status);
  expect(await deps.users.countDocuments()).toBe(1);
  expect(await deps.credentials.countDocuments()).toBe(1);
});

test('during a database outage a signed-in user sees a message and stays signed in', async () => {
  const proxy = await startFaultProxy(Number(new URL(inject('mongodbUri')).port), 'mongodb');
  onTestFinished(() => proxy.close());
  const web = await openWebApp({ MONGODB_URI: proxy.through(freshNames().mongodbUri) });
  const { headers } = await signIn(web);
  await proxy.refuse();
  const away = await getPage(web, '/dashboard', headers);
  expect(away.statusCode).toBe(503);
  expect(away.headers['retry-after']).toBeDefined();
  expect(away.body).toContain('The database does not answer');
  await proxy.restore();
  await expect.poll(async () => (await getPage(web, '/dashboard', headers)).statusCode).toBe(200);
});
