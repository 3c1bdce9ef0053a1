import { beforeAll, describe, expect, test } from 'vitest';
import { PASSWORD, signIn } from '../support/sign-in.ts';
import { openWebApp, sendForm, type WebApp } from '../support/web-app.ts';
import { linkTo, tokenOf } from './account-pages.ts';

const NAME = 'Nora Newcomer';
const LOCAL_PART = 'new1.newcomer';
const EMAIL = `${LOCAL_PART}@example.org`;
const OWN = [EMAIL, 'New1.Newcomer@Example.org', LOCAL_PART, 'nora newcomer'];
const SENTENCE = 'The password must not be your e-mail address or name';

let web: WebApp;
let mailing: WebApp;

beforeAll(async () => {
  web = await openWebApp();
  mailing = await openWebApp({ SMTP_URL: 'smtp://127.0.0.1:1', MAIL_FROM: 'votes@example.org' });
});

async function expectRefused(send: (password: string) => ReturnType<typeof sendForm>): Promise<void> {
  for (const password of OWN) {
    const { statusCode, body } = await send(password);
    expect([password, statusCode]).toEqual([password, 400]);
    expect(body).toContain(SENTENCE);
  }
  expect((await send(`${PASSWORD} of ${NAME}`)).statusCode).toBe(303);
}

describe('a password must not be the user’s address, its first part or their name', () => {
  test('at sign-up', () =>
    expectRefused((password) => sendForm(web, '/sign-up', { name: NAME, email: EMAIL, password })));

  test('at sign-up with a link', async () => {
    await sendForm(mailing, '/sign-up', { email: EMAIL });
    const token = tokenOf(await linkTo(mailing.deps, EMAIL));
    await expectRefused((password) => sendForm(mailing, '/verify-email', { token, name: NAME, password }));
  });

  test('when a link sets a new one', async () => {
    const email = `other.${EMAIL}`;
    const { userId } = await signIn(mailing, { email });
    await mailing.deps.users.updateOne({ _id: userId }, { $set: { name: NAME } });
    await sendForm(mailing, '/forgot-password', { email });
    const token = tokenOf(await linkTo(mailing.deps, email));
    const { body } = await sendForm(mailing, '/set-password', { token, password: email });
    expect(body).toContain(SENTENCE);
    const set = await sendForm(mailing, '/set-password', { token, password: `${PASSWORD} again` });
    expect(set.statusCode).toBe(303);
  });

  test('when it is changed', async () => {
    const { headers, email } = await signIn(web);
    const change = (password: string) =>
      sendForm(web, '/account/password', { current: PASSWORD, password }, headers);
    for (const password of [email, email.split('@')[0] ?? '', 'Olivia Owner']) {
      expect((await change(password)).body).toContain(SENTENCE);
    }
    expect((await change(`${PASSWORD} again`)).statusCode).toBe(303);
  });
});
