import { beforeAll, expect, test } from 'vitest';
import { getPage, openWebApp, type WebApp } from '../support/web-app.ts';

let web: WebApp;

beforeAll(async () => {
  web = await openWebApp({ NOTICE: 'Votes go on <b>on Sunday</b>.' });
});

test('the operator’s notice is shown as text at the top of every page', async () => {
  for (const url of ['/', '/sign-in', '/no-such-page'])
    expect((await getPage(web, url)).body).toContain(
      '<p class="site-notice" dir="auto">Votes go on &lt;b&gt;on Sunday&lt;/b&gt;.</p>',
    );
});

test('without a notice nothing is shown', async () => {
  web.deps.config.NOTICE = '';
  expect((await getPage(web, '/sign-in')).body).not.toContain('site-notice');
});
