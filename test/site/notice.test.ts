import { expect, test } from 'vitest';
import { openWebApp } from '../support/web-app.ts';

test('the operator’s notice is shown as text at the top of every page', async () => {
  const { app } = await openWebApp({ NOTICE: 'Votes go on <b>on Sunday</b>.' });
  for (const url of ['/', '/sign-in', '/no-such-page']) {
    const { body } = await app.inject({ url, headers: { accept: 'text/html' } });
    expect(body).toContain('<p class="site-notice" dir="auto">Votes go on &lt;b&gt;on Sunday&lt;/b&gt;.</p>');
  }
});

test('without a notice nothing is shown', async () => {
  const { app } = await openWebApp();
  const { body } = await app.inject({ url: '/sign-in', headers: { accept: 'text/html' } });
  expect(body).not.toContain('site-notice');
});
