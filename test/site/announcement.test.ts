import { expect, test, vi } from 'vitest';
import { setAnnouncement } from '../../src/moderation/announcements.ts';
import { after, DAY, HOUR } from '../../src/platform/clock.ts';
import { createAnnouncementCache } from '../../src/site/shared/announcement-cache.ts';
import { EVENTUALLY } from '../support/eventually.ts';
import { addOwnedServer } from '../support/owned-server.ts';
import { signIn } from '../support/sign-in.ts';
import { testDeps } from '../support/test-deps.ts';
import { getPage, sendForm, webAppOfFile } from '../support/web-app.ts';

const shared = webAppOfFile();
const PATH = '/operator/announcement';

test('an operator sets an announcement, every page shows it, and it ends or is removed', async () => {
  const web = shared();
  const operator = await signIn(web, { role: 'operator' });
  const owner = await signIn(web);
  const serverId = await addOwnedServer(web.deps, owner.userId);
  expect((await getPage(web, '/')).body).not.toContain('class="announcement');
  const before = await getPage(web, '/how-ranking-works');

  const form = { text: 'We **move** on\nhttps://example.org/news', level: 'warning', until: '' };
  const set = await sendForm(web, PATH, form, operator.headers);
  expect(set).toMatchObject({ statusCode: 303, headers: { location: `${PATH}?done=set` } });
  const shown = '<details class="announcement warning" open>';
  await vi.waitFor(async () => expect((await getPage(web, '/')).body).toContain(shown), EVENTUALLY);
  for (const path of ['/sign-in', '/no-such-page', '/privacy'])
    expect((await getPage(web, path)).body, path).toContain(shown);
  for (const path of ['/dashboard', `/dashboard/servers/${serverId.toHexString()}`, '/account'])
    expect((await getPage(web, path, owner.headers)).body, path).toContain(shown);
  const page = (await getPage(web, PATH, operator.headers)).body;
  expect(page).toContain('We <strong>move</strong> on<br />\n<a href="https://example.org/news"');
  expect(page).toContain('https://example.org/news</textarea>');

  // The ETag from before the announcement no longer matches.
  await vi.waitFor(async () => {
    const { etag } = before.headers;
    const headers = { 'if-none-match': String(etag) };
    expect((await getPage(web, '/how-ranking-works', headers)).statusCode).toBe(200);
  }, EVENTUALLY);

  const audit = await web.deps.auditLog.findOne({ action: 'announcement.set' });
  expect(audit).toMatchObject({ details: { level: 'warning', until: null, text: form.text } });

  const cleared = await sendForm(web, `${PATH}/clear`, {}, operator.headers);
  expect(cleared.headers.location).toBe(`${PATH}?done=cleared`);
  expect((await getPage(web, '/sign-in')).body).not.toContain('class="announcement');
  expect((await sendForm(web, `${PATH}/clear`, {}, operator.headers)).headers.location).toBe(PATH);
});

test.each([
  [{ text: '', level: 'info', until: '' }, 'The text must not be empty.'],
  [{ text: 'x'.repeat(1_001), level: 'info', until: '' }, 'at most 1,000 characters'],
  [{ text: 'x', level: 'loud', until: '' }, 'must be info or warning'],
  [{ text: 'x', level: 'info', until: '2020-01-01T00:00' }, 'The end must be in the future.'],
  [{ text: 'x', level: 'info', until: 'tomorrow' }, 'Must be a time such as'],
])('%o is refused', async (form, message) => {
  const web = shared();
  const operator = await signIn(web, { role: 'operator' });
  const { statusCode, body } = await sendForm(web, PATH, form, operator.headers);
  expect(statusCode).toBe(400);
  expect(body).toContain(message);
  expect(await web.deps.announcements.countDocuments()).toBe(0);
});

test('no Markdown in an announcement becomes active', async () => {
  const { deps } = shared();
  const cache = createAnnouncementCache(deps);
  for (const [text, active] of [
    ['<script>alert(1)</script>', '<script>alert'],
    ['<img src=x onerror=alert(1)>', '<img src=x'],
    ['[a](javascript:alert(1))', 'href="javascript'],
    ['![a](https://example.org/x.png)', 'example.org/x.png" alt'],
    ['</details><h1>x</h1>', '<h1>x'],
  ] as const) {
    await setAnnouncement(deps, { text, level: 'info', until: null }, 'cli');
    await cache.reload();
    expect(String(cache.shown())).toContain('announcement info');
    expect(String(cache.shown())).not.toContain(active);
  }
});

test('it is read once in five seconds, ends by itself, and survives an outage of MongoDB', async () => {
  const deps = await testDeps();
  let now = new Date();
  const clock = { now: () => now };
  const until = after(now, HOUR);
  await setAnnouncement(deps, { text: 'Soon', level: 'info', until }, 'cli');
  const findOne = vi.fn(deps.announcements.findOne.bind(deps.announcements));
  const announcements = new Proxy(deps.announcements, {
    get: (target, key) => (key === 'findOne' ? findOne : Reflect.get(target, key)),
  });
  const cache = createAnnouncementCache({ ...deps, announcements, clock });
  expect(String(cache.shown())).toBe('');
  await Promise.all([cache.refresh(), cache.refresh()]);
  expect(cache.refresh()).toBeUndefined();
  expect(findOne).toHaveBeenCalledTimes(1);
  expect(String(cache.shown())).toContain('Soon');
  findOne.mockRejectedValueOnce(new Error('no mongod'));
  await cache.reload();
  expect(String(cache.shown())).toContain('Soon');
  // If a read hangs, later requests do not wait for it.
  const hanging = createAnnouncementCache({
    ...deps,
    announcements: { findOne: () => new Promise(() => undefined) } as never,
    clock,
  });
  await hanging.refresh();
  await vi.waitFor(() => expect(hanging.refresh()).toBeUndefined(), EVENTUALLY);
  now = after(now, DAY);
  expect(String(cache.shown())).toBe('');
});
