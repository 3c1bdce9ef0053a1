import { beforeAll, expect, test } from 'vitest';
import { after, MINUTE } from '../../src/platform/clock.ts';
import { signIn } from '../support/sign-in.ts';
import { testDeps } from '../support/test-deps.ts';
import { getPage, openWebApp, openWebAppOn, textOf, type WebApp } from '../support/web-app.ts';

/** What the page says about each thing, as text. */
async function checksOf(web: WebApp, sent: Record<string, string> = {}): Promise<Record<string, string>> {
  const { headers } = await signIn(web, { role: 'operator' });
  const page = (await getPage(web, '/operator/system', { ...headers, ...sent })).body;
  const parts = [...page.matchAll(/<div id="check-(\w+)">(.*?)<\/dd>/gs)];
  return Object.fromEntries(parts.map(([, id = '', html = '']) => [id, textOf(html).trim()]));
}

const LOCAL = { host: 'localhost:3000' };
const PUBLIC = { PUBLIC_URL: 'https://votes.example.org' };
/** Sites on which several tests look. */
let local: WebApp;
let unproxied: WebApp;
let proxied: WebApp;

beforeAll(async () => {
  local = await openWebApp();
  unproxied = await openWebApp(PUBLIC);
  proxied = await openWebApp({
    ...PUBLIC,
    TRUST_PROXY: '1',
    SMTP_URL: 'smtps://user:hidden-password@mail.example.org',
    MAIL_FROM: 'Votes <votes@example.org>',
  });
});

test('on one machine, everything that needs nothing is good, and the rest has a mend', async () => {
  const checks = await checksOf(local, LOCAL);
  expect(Object.keys(checks)).toEqual(['address', 'https', 'proxy', 'mail', 'clock', 'versions']);
  expect(checks.address).toMatch(/look at it Only this machine can open .* To do: .*PUBLIC_URL=https:/);
  expect(checks.https).toContain('good Not needed');
  expect(checks.proxy).toContain('good No proxy is in front. Your address is 127.0.0.1');
  expect(checks.mail).toMatch(/look at it No mail server is set.* To do: Set the mail server/);
  expect(checks.clock).toMatch(/good This machine and MongoDB agree\. It is .* UTC here/);
  expect(checks.versions).toMatch(
    /Tallyport \d+\.\d+\.\d+, Node \d+\.\d+\.\d+\. MongoDB \d+\.\d+.* (Redis|Valkey) \d+/,
  );
});

test('a public site behind its proxy is good', async () => {
  const sent = { host: 'votes.example.org', 'x-forwarded-for': '203.0.113.7', 'x-forwarded-proto': 'https' };
  const checks = await checksOf(proxied, sent);
  for (const id of ['address', 'https', 'proxy', 'mail', 'clock']) expect(checks[id]).toMatch(/ good /);
  expect(checks.proxy).toContain('Your address is 203.0.113.7');
  expect(checks.mail).toContain('mail.example.org');
  expect(checks.mail).not.toMatch(/hidden-password|user/);
});

test.each<[string, () => WebApp | Promise<WebApp>, Record<string, string>, string, RegExp]>([
  [
    'a proxy that lets browsers send no referrer',
    () => proxied,
    {
      host: 'votes.example.org',
      'x-forwarded-for': '203.0.113.7',
      'x-forwarded-proto': 'https',
      'sec-fetch-site': 'same-origin',
      'sec-fetch-mode': 'navigate',
    },
    'proxy',
    /look at it Your browser sent no Referer .* Referrer-Policy: no-referrer/,
  ],
  [
    'a proxy that is not trusted',
    () => unproxied,
    { host: 'votes.example.org', 'x-forwarded-for': '203.0.113.7' },
    'proxy',
    /wrong .*x-forwarded-for.* TRUST_PROXY trusts none.* To do: Set TRUST_PROXY=1/,
  ],
  [
    'a trusted proxy that passes on nothing',
    () => proxied,
    { host: 'votes.example.org' },
    'proxy',
    /look at it TRUST_PROXY is 1 , but this request has no X-Forwarded-For/,
  ],
  [
    'a proxy that is not in the list',
    () => openWebApp({ ...PUBLIC, TRUST_PROXY: '192.0.2.0/24' }),
    { host: 'votes.example.org', 'x-forwarded-for': '203.0.113.7' },
    'proxy',
    /wrong This request came from 127\.0\.0\.1 , which TRUST_PROXY does not name/,
  ],
  [
    'too few proxies counted',
    () => proxied,
    { host: 'votes.example.org', 'x-forwarded-for': '203.0.113.7, 10.0.0.2' },
    'proxy',
    /look at it Your address is 10\.0\.0\.2 \. It is a private one/,
  ],
  [
    'an address that is not PUBLIC_URL',
    () => unproxied,
    { host: '192.0.2.1:3000' },
    'address',
    /wrong PUBLIC_URL is https:\/\/votes\.example\.org , but your browser opened 192\.0\.2\.1:3000/,
  ],
  [
    'a public site without HTTPS',
    () => openWebApp({ PUBLIC_URL: 'http://votes.example.org' }),
    { host: 'votes.example.org' },
    'https',
    /wrong Passwords, sessions and tokens .* To do: Put a proxy with a certificate in front/,
  ],
])('%s is said, with its mend', async (_what, site, sent, id, expected) => {
  expect((await checksOf(await site(), sent))[id]).toMatch(expected);
});

test('a wrong clock and a Redis that is away are said, and the page comes nevertheless', async () => {
  const deps = await testDeps({ REDIS_URL: 'redis://127.0.0.1:1' });
  const clock = { now: () => after(new Date(), MINUTE) };
  const web = await openWebAppOn({ ...deps, clock, clockSkew: () => MINUTE });
  const checks = await checksOf(web, LOCAL);
  expect(checks.clock).toContain(
    'wrong Votes are refused: this machine’s clock is 60.0 s ahead of MongoDB’s',
  );
  expect(checks.versions).toMatch(/wrong .* To do: .*Redis does not answer/);
});

test('the browser’s own texts are escaped', async () => {
  const { headers } = await signIn(proxied, { role: 'operator' });
  const sent = { ...headers, host: 'x"><script>alert(1)</script>' };
  const page = await getPage(proxied, '/operator/system', sent);
  expect(page.body).not.toContain('<script>alert');
});
