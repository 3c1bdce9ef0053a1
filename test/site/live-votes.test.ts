import { beforeAll, expect, test, vi } from 'vitest';
import { type OwnerApp, type OwnerFixture, openOwnerApp, ownerFixture } from './owner-fixture.ts';

let web: OwnerApp;
beforeAll(async () => {
  web = await openOwnerApp();
});

/** The path that a live page polls (below the server's path) and the interval in milliseconds. */
function pollOf(body: string): { part: string; ms: number } {
  const [, path = ''] = /data-hx-get="([^"]+)"/.exec(body) ?? [];
  const [, ms] = /data-hx-trigger="every (\d+)ms/.exec(body) ?? [];
  return { part: path.replaceAll('&amp;', '&').replace(/^.*\/servers\/[0-9a-f]{24}/, ''), ms: Number(ms) };
}

async function open(fixture: OwnerFixture, part = '/votes') {
  web.deps.clock.stop(web.deps.clock.now());
  const { body } = await fixture.get(part);
  const { part: polled, ms } = pollOf(body);
  return { ms, poll: () => fixture.get(polled) };
}

test('an open votes page polls often enough to show a delivered vote within two seconds', async () => {
  const fixture = await ownerFixture(web);
  const { ms, poll } = await open(fixture);
  expect(ms).toBeLessThanOrEqual(1_500);
  const unchanged = await poll();
  expect([unchanged.statusCode, unchanged.body]).toEqual([204, '']);
  await fixture.cast('Steve');
  const waiting = await poll();
  expect(waiting.statusCode).toBe(200);
  expect(waiting.body).toContain('Steve');
  const later = pollOf(waiting.body);
  expect((await fixture.get(later.part)).statusCode).toBe(204);
  await fixture.drain();
  const delivered = await fixture.get(later.part);
  expect(delivered.statusCode).toBe(200);
  expect(delivered.body).toContain('>delivered<');
});

test('the whole page is sent again after 15 seconds, and after 3 while votes wait', async () => {
  const fixture = await ownerFixture(web);
  const { clock } = web.deps;
  const idle = await open(fixture);
  clock.move(14_999);
  expect((await idle.poll()).statusCode).toBe(204);
  clock.move(1);
  expect((await idle.poll()).statusCode).toBe(200);
  await fixture.cast('Steve');
  const busy = await open(fixture);
  clock.move(2_999);
  expect((await busy.poll()).statusCode).toBe(204);
  clock.move(1);
  expect((await busy.poll()).statusCode).toBe(200);
});

test('a change of the listener, of the filter’s votes and of another page are seen alike', async () => {
  const fixture = await ownerFixture(web);
  const vote = await fixture.cast('Steve');
  const filtered = await open(fixture, '/votes?state=delivered&player=Steve');
  const single = await open(fixture, `/votes/${vote._id}`);
  expect([(await filtered.poll()).statusCode, (await single.poll()).statusCode]).toEqual([204, 204]);
  await fixture.drain();
  const [list, one] = [await filtered.poll(), await single.poll()];
  expect([list.statusCode, one.statusCode]).toEqual([200, 200]);
  expect(list.body).toContain('Steve');
  const page = await open(fixture);
  await fixture.set({ serviceName: 'Another' });
  expect((await page.poll()).statusCode).toBe(200);
});

test('a poll of an unchanged page counts no votes', async () => {
  const fixture = await ownerFixture(web);
  const { poll } = await open(fixture);
  const { votes } = web.deps;
  const counts = [vi.spyOn(votes, 'countDocuments'), vi.spyOn(votes, 'aggregate')];
  const finds = vi.spyOn(votes, 'find');
  expect((await poll()).statusCode).toBe(204);
  for (const count of counts) expect(count).not.toHaveBeenCalled();
  expect(finds).toHaveBeenCalledTimes(1);
  for (const spy of [...counts, finds]) spy.mockRestore();
});

test('an invented mark is a whole page', async () => {
  const fixture = await ownerFixture(web);
  for (const mark of ['', '.', 'x.zzzzzzzz', '%00', 'a'.repeat(5_000)]) {
    expect((await fixture.get(`/votes?seen=${mark}`)).statusCode).toBe(200);
  }
});
