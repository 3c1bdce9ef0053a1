import { expect, test } from 'vitest';
import { mailAccountChange } from '../../src/accounts/account-changes.ts';
import { putMail } from '../../src/mail/outbox.ts';
import { requireFilledPage } from '../support/filled-texts.ts';
import { testDeps } from '../support/test-deps.ts';
import { mailsTo } from './account-pages.ts';

test('a placeholder that is left in a mail or a page fails the test that meets it', async () => {
  const deps = await testDeps();
  const message = { to: 'ada@example.org', subject: 'Hello', text: 'Hello' };
  const unfilled = putMail(deps, { ...message, text: 'Your site is {site}.' });
  await expect(unfilled).rejects.toThrow('{site} is not filled in');
  const subject = putMail(deps, { ...message, subject: 'Of {name}' });
  await expect(subject).rejects.toThrow('{name} is not filled in');
  expect(await putMail(deps, message)).toBe(true);
  expect(() => requireFilledPage('<p>Votes in {days} days</p>')).toThrow('{days}');
  expect(() =>
    requireFilledPage('<p data-picked="{n}">3 <code>/servers/{serverId}</code></p>'),
  ).not.toThrow();
});

test('the mail about a linked site names it, whatever its name', async () => {
  const deps = await testDeps({ SMTP_URL: 'smtp://mail.example.org', MAIL_FROM: 'votes@example.org' });
  const to = 'ada@example.org';
  for (const change of ['site-linked', 'site-unlinked'] as const)
    await mailAccountChange(deps, { email: to, emailVerified: true }, change, 'Harbour $& Co');
  const [linked, unlinked] = await mailsTo(deps, to);
  expect(linked).toContain('your account at Harbour $& Co.');
  expect(unlinked).toContain('A sign-in with Harbour $& Co and the same e-mail address links it again.');
  const subjects = (await deps.mails.find({ to }).toArray()).map(({ subject }) => subject);
  expect(subjects[0]).toContain('You can sign in with Harbour $& Co');
});
