import { ObjectId } from 'mongodb';
import { beforeAll, expect, test } from 'vitest';
import { addOwnedServer } from '../support/owned-server.ts';
import { signIn } from '../support/sign-in.ts';
import { getPage, openWebApp, type WebApp } from '../support/web-app.ts';

let web: WebApp;
let underPath: WebApp;

beforeAll(async () => {
  web = await openWebApp();
  underPath = await openWebApp({ PUBLIC_URL: 'http://127.0.0.1:3000/listing' });
});

const headOf = (body: string) => /<header class="site-head">[\s\S]*?<\/header>/.exec(body)?.[0] ?? '';
const signInOf = (body: string) => /href="([^"]*\/sign-in[^"]*)"/.exec(headOf(body))?.[1];

test('“Sign in” leads back to a page of the listing, and from the home page and forms to the own start page', async () => {
  await addOwnedServer(underPath.deps, new ObjectId(), { name: 'Alpha Craft' });
  const linkOn = async (path: string) => signInOf((await getPage(underPath, path)).body);
  expect(await linkOn('/servers/alpha-craft?utm=x')).toBe(
    '/listing/sign-in?next=%2Flisting%2Fservers%2Falpha-craft',
  );
  for (const path of ['/', '/sign-up', '/no-such-page'])
    expect(await linkOn(path), path).toBe('/listing/sign-in');
});

test('“Add a server” leads a visitor to the sign-up, which says why', async () => {
  const to = '/sign-up?next=/dashboard/servers/new';
  expect(headOf((await getPage(web, '/')).body)).toContain(`href="${to}"`);
  expect((await getPage(web, to)).body).toContain('With an account, you list your server');
  const { headers } = await signIn(web);
  expect((await getPage(web, to, headers)).headers.location).toBe('/dashboard/servers/new');
});

test('the style guide is on localhost only', async () => {
  const elsewhere = await openWebApp({ PUBLIC_URL: 'https://votes.example.org' });
  const answers = await Promise.all([web, underPath, elsewhere].map((site) => getPage(site, '/styleguide')));
  expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200, 404]);
});
