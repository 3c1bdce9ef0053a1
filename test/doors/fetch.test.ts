import { expect, test } from 'vitest';
import { setFetchListener } from '../../src/delivery/fetch/fetch-listener.ts';
import { atTheEnd } from '../support/at-the-end.ts';
import { fetchingServer } from '../support/fetching.ts';
import { startApp } from '../support/start-app.ts';

test('votes are fetched once, the oldest first, with what a plugin needs and nothing else, and end as the plugin says', async () => {
  const web = await startApp();
  atTheEnd(() => web.close());
  const listed = await web.addServer();
  await setFetchListener(web.deps, listed.serverId, { serviceName: 'Tallyport' }, 'test');
  const server = await fetchingServer(web, listed);
  const ids: string[] = [];
  for (const username of ['Alex', 'Steve']) {
    const { status, headers } = await web.vote(listed, username);
    expect(status).toBe(200);
    ids.push(headers.get('vote-id') ?? '');
  }

  const taken = await server.take({ lease_seconds: 30 });
  expect(taken).toEqual([
    {
      vote_id: ids[0],
      username: 'Alex',
      voted_at: (await server.vote(ids[0] ?? '')).votedAt.toISOString(),
      service_name: 'Tallyport',
      sending: 1,
      resends: 0,
      lease: expect.any(String),
      lease_seconds_left: expect.toBeOneOf([29, 28, 30]),
    },
    expect.objectContaining({ vote_id: ids[1], username: 'Steve' }),
  ]);
  expect(await server.take()).toEqual([]);
  const deliveries = () => Promise.all(ids.map(async (id) => (await server.vote(id)).delivery));
  expect((await deliveries())[0]).toMatchObject({
    state: 'sending',
    attempts: [{ protocol: 'fetch', wokenBy: 'cast', leaseMs: 30_000 }],
  });

  const results = taken.map(({ vote_id, lease, username }) =>
    username === 'Alex'
      ? { vote_id, lease, outcome: 'delivered' }
      : { vote_id, lease, outcome: 'failed', reason: 'Steve is banned' },
  );
  expect((await server.done(results)).body).toMatchObject({ settled: ids, refused: [] });
  expect(await deliveries()).toMatchObject([
    { state: 'delivered', attempts: [{ code: 'acknowledged' }] },
    { state: 'failed', attempts: [{ code: 'fetch-failed', words: 'Steve is banned' }] },
  ]);
  expect(await server.take()).toEqual([]);
});
