import { ObjectId } from 'mongodb';
import { expect, test } from 'vitest';
import { addOwnedServer } from '../support/owned-server.ts';
import { signIn } from '../support/sign-in.ts';
import { getPage, openWebApp } from '../support/web-app.ts';

const headOf = (body: string) => /<header class="site-head">[\s\S]*?<\/header>/.exec(body)?.[0] ?? '';
const signInOf = (body: string) => /href="([^"]*\/sign-in[^"]*)"/.exec(headOf(body))?.[1];

test('“Sign in” leads back to a page of the listing, and from the home page and forms to the own start page', async () => {
  const web = await openWebApp({ PUBLIC_URL: 'http://localhost:3000/listing' });
  await addOwnedServer(web.deps, new ObjectId(), { name: 'Alpha Craft' });
  const linkOn = async (path: string) => signInOf((await getPage(web, path)).body);
  expect(await linkOn('/servers/alpha-craft?utm=x')).toBe(
    '/listing/sign-in?next=%2Flisting%2Fservers%2Falpha-craft',
  );
  for (const path of ['/', '/sign-up', '/no-such-page'])
    expect(await linkOn(path), path).toBe('/listing/sign-in');
});

test('“Add a server” leads a visitor to the sign-up, which says why', async () => {
  const web = await openWebApp();
  const to = '/sign-up?next=/dashboard/servers/new';
  expect(headOf((await getPage(web, '/')).body)).toContain(`href="${to}"`);
  expect((await getPage(web, to)).body).toContain('With an account, you list your server');
  const { headers } = await signIn(web);
  expect((await getPage(web, to, headers)).headers.location).toBe('/dashboard/servers/new');
});

test.each([
  ['http://localhost:3000', 200],
  ['http://127.0.0.1:3000/listing', 200],
  ['https://votes.example.org', 404],
])('at %s the style guide answers %i', async (PUBLIC_URL, status) => {
  const web = await openWebApp({ PUBLIC_URL });
  expect((await getPage(web, '/styleguide')).statusCode).toBe(status);
});
