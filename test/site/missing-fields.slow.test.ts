import { beforeAll, expect, test } from 'vitest';
import { signIn } from '../support/sign-in.ts';
import { openWebApp, sendForm } from '../support/web-app.ts';
import { giveTwoFactor } from './account-pages.ts';
import { type OwnerApp, openOwnerApp, ownerFixture } from './owner-fixture.ts';

let web: OwnerApp;

beforeAll(async () => {
  web = await openOwnerApp();
});

/** Default messages of zod. */
const RAW = /Invalid (input|option)|expected .* received/;

const sendToServer = async (path: string) => (await ownerFixture(web)).post(path);
const sendTo = async (path: string) => sendForm(web, path, {}, (await signIn(web)).headers);
const sendWithSecondFactor = async (path: string) => {
  const { headers } = await giveTwoFactor(web, await signIn(web));
  return sendForm(web, path, {}, headers);
};

type Sent = [path: string, send: (path: string) => ReturnType<typeof sendForm>, sentences: string[]];

test.each<Sent>([
  ['/sign-in', sendTo, ['Enter your e-mail address.', 'Enter your password.']],
  ['/sign-in/code', sendTo, ['Enter the code.']],
  ['/sign-up', sendTo, ['Must be an e-mail address.', 'Use at least 10 characters.']],
  ['/account/name', sendTo, ['Must not be empty.']],
  ['/account/password', sendTo, ['Enter your current password.', 'Use at least 10 characters.']],
  ['/account/email', sendTo, ['Must be an e-mail address.', 'Enter your password.']],
  ['/account/delete', sendTo, ['Enter your password.']],
  ['/account/two-factor/begin', sendTo, ['Enter your password.']],
  ['/account/two-factor/confirm', sendTo, ['Enter the six digits.']],
  ['/account/two-factor/off', sendWithSecondFactor, ['Enter your password.', 'Enter a code.']],
  ['/account/two-factor/backup-codes', sendWithSecondFactor, ['Enter your password.', 'Enter a code.']],
  ['/set-password', sendTo, ['Use at least 10 characters.']],
  ['/dashboard/servers/new', sendTo, ['This field is missing.']],
  ['/settings', sendToServer, ['The form was incomplete.']],
  ['/settings/place', sendToServer, ['The form was incomplete.']],
  ['/tokens', sendToServer, ['Choose one of these.', 'This field is missing.']],
])('a form without its fields is refused in our words: %s', async (path, send, sentences) => {
  const { statusCode, body } = await send(path);
  expect(statusCode).toBe(400);
  for (const sentence of sentences) expect(body).toContain(sentence);
  expect(body).not.toMatch(RAW);
});

test('with mail, a sign-up without an address is refused with our own message', async () => {
  const web = await openWebApp({ SMTP_URL: 'smtp://127.0.0.1:1', MAIL_FROM: 'votes@example.org' });
  for (const path of ['/sign-up', '/forgot-password']) {
    const { statusCode, body } = await sendForm(web, path, {});
    expect(statusCode).toBe(400);
    expect(body).toContain('Must be an e-mail address.');
    expect(body).not.toMatch(RAW);
  }
});
