import { ObjectId, UUID } from 'mongodb';
import { beforeAll, expect, test, vi } from 'vitest';
import { setHttpListener } from '../../src/delivery/http/http-listeners.ts';
import { after, HOUR } from '../../src/platform/clock.ts';
import { type ClockedDeps, deliveryBenchOn, openDeliveryDeps } from '../support/delivering.ts';
import { EVENTUALLY } from '../support/eventually.ts';
import { signIn } from '../support/sign-in.ts';
import { openWebAppOn, type WebApp } from '../support/web-app.ts';

const PAGE = { accept: 'text/html,application/xhtml+xml' };

let web: WebApp & { deps: ClockedDeps };

beforeAll(async () => {
  const deps = await openDeliveryDeps({ PUBLIC_URL: 'http://localhost:3000/listing' });
  web = { ...(await openWebAppOn(deps)), deps };
});

async function openListenerPage() {
  const bench = await deliveryBenchOn(web.deps);
  const headers = { ...PAGE, ...(await signIn(web, { role: 'operator' })).headers };
  const listener = await bench.deps.listeners.findOne({ serverId: bench.serverId });
  const listenerId = listener?._id.toHexString() ?? '';
  const get = (path: string) => web.app.inject({ url: `/listing/operator${path}`, headers });
  /** The page as text, without tags. */
  const read = async (query = '') => {
    const { body } = await get(`/listeners/${listenerId}${query}`);
    return body.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ');
  };
  return { ...bench, listenerId, get, read };
}

test('an unreachable listener shows the cause, the fix, its waiting votes and the oldest one', async () => {
  const { cast, drain, read, listener, clock, listenerId, get } = await openListenerPage();
  const { port } = listener;
  await listener.stop();
  for (const name of ['Steve', 'Alex', 'Kai']) await cast(name);
  await drain();
  clock.move(2 * HOUR);
  const text = await read();
  expect(text).toContain('Vote listener of Alpha');
  expect(text).toContain('Vote listener of Alpha unreachable');
  expect(text).toMatch(/Since \d+ \w+ \d{4}, \d\d:\d\d UTC/);
  expect(text).toContain(
    'The machine answers, but nothing listens at this address and port, or a firewall rejects the connection.',
  );
  expect(text).toContain('Check that the game server runs, that its log');
  expect(text).toContain(`Protocol votifier-v2 Address 127.0.0.1:${port}`);
  expect(text).toContain('Votes waiting 3');
  expect(text).toContain('Oldest waiting vote 2 hours old');
  expect(text).toContain('Next test');
  expect(text).toMatch(/Kai waiting 1 connection refused/);
  const { headers } = await get(`/listeners/${listenerId}`);
  expect(headers['cache-control']).toBe('no-store');
});

test('a paused listener shows the reason and its answer; one that answers is active', async () => {
  const { cast, drain, read, listener } = await openListenerPage();
  await cast('Steve');
  await drain();
  expect(await read()).toMatch(
    /Vote listener of Alpha active .* Votes waiting 0 Oldest waiting vote none Last delivered \d/,
  );
  listener.tokens = { default: 'another' };
  await cast('Alex');
  await drain();
  const text = await read();
  expect(text).toMatch(/Vote listener of Alpha paused .* Since \d+ \w+ \d{4}/);
  expect(text).toContain(
    'The listener refused the signature: its token for our service name “Tallyport” is different, or it has none for it.',
  );
  expect(text).toContain('Signature is not valid');
});

test('the page shows no secret, and only host and port of a URL', async () => {
  const { deps, serverId, read } = await openListenerPage();
  const url = 'https://play.example.org/votes?key=query-key-4711';
  const { secret } = await setHttpListener(deps, serverId, { url, serviceName: 'x' }, 'test');
  const listener = await deps.listeners.findOne({ serverId });
  const text = await read();
  expect(text).toContain('Address play.example.org:443');
  expect(text).not.toContain('query-key');
  expect(text).not.toContain(secret ?? '');
  expect(text).not.toContain(listener?.sealedSecret ?? '');
});

test('text of players and listeners is escaped', async () => {
  const { cast, get, listenerId } = await openListenerPage();
  await cast('<script>alert(1)</script>');
  const { body } = await get(`/listeners/${listenerId}?state=waiting%22%3E%3Cscript%3E`);
  expect(body).toContain('&lt;script&gt;');
  // The page has no other scripts than the site's own files.
  expect(
    body.replaceAll(/<script(?: type="module")? src="\/listing\/assets\/[^"]+"><\/script>/g, ''),
  ).not.toContain('<script');
});

test('pages of votes skip and repeat none, also with many at the same time, and keep their filter', async () => {
  const { cast, deps, serverId, get, listenerId } = await openListenerPage();
  const model = await cast('player 0');
  const moment = after(model.votedAt, -HOUR);
  const many = Array.from({ length: 129 }, (_, n) => ({
    ...model,
    _id: new UUID(),
    username: `player ${n + 1}`,
    usernameKey: `player ${n + 1}`,
    // 70 votes have the same time, and the first page ends among them.
    votedAt: n < 70 ? moment : after(moment, -n),
  }));
  await deps.votes.insertMany(many);
  await deps.votes.updateMany(
    { serverId, username: /^player 1\d\d$/ },
    { $set: { 'delivery.state': 'failed' } },
  );
  const pages = async (query: string): Promise<string[][]> => {
    const { body } = await get(`/listeners/${listenerId}${query}`);
    const players = [...body.matchAll(/<bdi>(player \d+)<\/bdi>/g)].map(([, name = '']) => name);
    const [, next = ''] = /href="([^"]*)" rel="next"/.exec(body) ?? [];
    expect(next === '' || next.startsWith(`/listing/operator/listeners/${listenerId}?`)).toBe(true);
    return next ? [players, ...(await pages(`?${next.split('?')[1]?.replaceAll('&amp;', '&')}`))] : [players];
  };
  const all = await pages('');
  expect(all.map(({ length }) => length)).toEqual([50, 50, 30]);
  expect(new Set(all.flat()).size).toBe(130);
  const failed = await pages('?state=failed');
  expect(failed.flat().every((name) => /^player 1\d\d$/.test(name))).toBe(true);
  expect(failed.flat()).toHaveLength(30);
  const [waiting = []] = await pages('?state=waiting&from=nonsense');
  expect(waiting).toHaveLength(50);
});

test('a removed listener and an invalid id answer with an error page', async () => {
  const { get } = await openListenerPage();
  for (const id of [new ObjectId().toHexString(), 'x', '%00']) {
    const answer = await get(`/listeners/${id}`);
    expect(answer.statusCode).toBe(404);
    expect(answer.body).toContain('This listener does not exist');
  }
});

test('a visitor who is not signed in is redirected to sign in', async () => {
  const { listenerId } = await openListenerPage();
  const url = `/listing/operator/listeners/${listenerId}`;
  const answer = await web.app.inject({ url, headers: PAGE });
  expect(answer.statusCode).toBe(303);
  expect(answer.headers.location).toBe(`/listing/sign-in?next=${encodeURIComponent(url)}`);
  expect((await web.app.inject(url)).statusCode).toBe(401);
});

test('in Bull Board a listener’s job tells its state and leads to its page', async () => {
  const { deps, serverId, listenerId, get, clock } = await openListenerPage();
  const payload = { serverId: serverId.toHexString(), listenerId };
  await vi.waitUntil(() => deps.producer.add('forward-votes', payload), EVENTUALLY);
  const queue = deps.queues['forward-votes'];
  const job = (await queue.getWaiting()).find(({ data }) => data.listenerId === listenerId);
  const since = clock.now().toISOString();
  await job?.updateProgress({ server: 'Alpha', waiting: 1_204, reason: 'connection-refused', since });
  await queue.add('by hand', { listenerId: '"><script>' });
  const answer = await get('/queues/api/queues?activeQueue=forward-votes&status=waiting');
  const { queues } = answer.json() as { queues: { name: string; jobs: Record<string, unknown>[] }[] };
  const jobs = queues.find(({ name }) => name === 'forward-votes')?.jobs ?? [];
  expect(jobs).toEqual(
    expect.arrayContaining([
      expect.objectContaining({
        name: expect.stringMatching(/^Alpha: 1,204 votes waiting, connection refused since \d\d:\d\d UTC$/),
        externalUrl: {
          displayText: 'Listener and its votes',
          href: `/listing/operator/listeners/${listenerId}`,
        },
      }),
      expect.objectContaining({
        externalUrl: { displayText: 'Admin area', href: '/listing/operator' },
      }),
    ]),
  );
});
