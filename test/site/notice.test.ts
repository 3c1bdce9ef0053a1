import { expect, test } from 'vitest';
import { openWebApp } from '../support/web-app.ts';

test('what an operator has to say stands at the top of every page, as text', async () => {
  const { app } = await openWebApp({ NOTICE: 'Votes go on <b>on Sunday</b>.' });
  for (const url of ['/', '/sign-in', '/no-such-page']) {
    const { body } = await app.inject({ url, headers: { accept: 'text/html' } });
    expect(body).toContain('<p class="site-notice" dir="auto">Votes go on &lt;b&gt;on Sunday&lt;/b&gt;.</p>');
  }
});

test('without one there is nothing', async () => {
  const { app } = await openWebApp();
  const { body } = await app.inject({ url: '/sign-in', headers: { accept: 'text/html' } });
  expect(body).not.toContain('site-notice');
});
