import { afterAll, beforeAll, expect, test } from 'vitest';
import { HOUR, SECOND } from '../../src/platform/clock.ts';
import { startApp, type TestDeps, type TestServer } from '../support/start-app.ts';

let tallyport: TestDeps;
beforeAll(async () => {
  tallyport = await startApp();
});
afterAll(() => tallyport.close());

type Page = {
  votes: { id: string; username: string; voted_at: string; excluded: boolean }[];
  next_cursor: string | null;
};

async function read(server: TestServer, query = ''): Promise<Page> {
  const { status, body } = await tallyport.call(server, `votes${query}`);
  expect(status).toBe(200);
  return body as Page;
}

/** Casts a vote for each name, a second apart. */
async function cast(server: TestServer, ...names: string[]): Promise<string[]> {
  const ids: string[] = [];
  for (const name of names) {
    tallyport.clock.move(SECOND);
    const { headers } = await tallyport.vote(server, name);
    ids.push(headers.get('vote-id') ?? '');
  }
  return ids;
}

test('votes come newest first, each with its id, its source and the state of its delivery', async () => {
  const server = await tallyport.addServer();
  const [first, second] = await cast(server, 'Steve', ' Alex ');
  const page = await read(server);
  expect(page).toEqual({
    votes: [
      {
        id: second,
        username: 'Alex',
        voted_at: expect.stringMatching(/Z$/),
        source: 'api',
        identity: null,
        delivery: 'none',
        arrival: 'surely-not',
        excluded: false,
      },
      expect.objectContaining({ id: first, username: 'Steve' }),
    ],
    next_cursor: null,
  });
});

test('a vote says whether its SteamID is proven', async () => {
  const server = await tallyport.addServer();
  await cast(server, '76561197960287930');
  await tallyport.deps.votes.updateOne({ username: '76561197960287930' }, { $set: { identity: 'proven' } });
  expect((await read(server)).votes).toMatchObject([{ username: '76561197960287930', identity: 'proven' }]);
});

test('pages do not overlap and leave out nothing while votes are cast', async () => {
  const server = await tallyport.addServer();
  const ids = await cast(server, 'A', 'B', 'C', 'D', 'E');
  const seen: string[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const page: Page = await read(server, `?limit=2${cursor && `&cursor=${cursor}`}`);
    seen.push(...page.votes.map(({ id }) => id));
    cursor = page.next_cursor;
    await cast(server, `Later ${seen.length}`);
  }
  expect(seen).toEqual(ids.toReversed());
});

test('votes of the same moment are on one page each', async () => {
  const server = await tallyport.addServer();
  const ids = await cast(server, 'A', 'B', 'C', 'D', 'E');
  const { votes } = tallyport.deps;
  await votes.updateMany({ serverId: server.serverId }, { $set: { votedAt: tallyport.clock.now() } });
  const first = await read(server, '?limit=2');
  const second = await read(server, `?limit=2&cursor=${first.next_cursor}`);
  const third = await read(server, `?limit=2&cursor=${second.next_cursor}`);
  const seen = [first, second, third].flatMap((page) => page.votes.map(({ id }) => id));
  expect(seen.toSorted()).toEqual(ids.toSorted());
  expect(third.next_cursor).toBeNull();
});

test('the votes of one player, in any spelling, have pages too', async () => {
  const server = await tallyport.addServer();
  const [older] = await cast(server, 'Steve', 'Alex');
  tallyport.clock.move(25 * HOUR);
  const [newer] = await cast(server, 'STEVE');
  const first = await read(server, '?username=steve&limit=1');
  expect(first.votes.map(({ id }) => id)).toEqual([newer]);
  const second = await read(server, `?username=steve&limit=1&cursor=${first.next_cursor}`);
  expect(second.votes.map(({ id }) => id)).toEqual([older]);
  expect(second.next_cursor).toBeNull();
  expect((await read(server, '?username=nobody')).votes).toEqual([]);
});

test('an excluded vote is listed as excluded, and another server’s votes are not listed', async () => {
  const [server, other] = [await tallyport.addServer(), await tallyport.addServer()];
  await cast(other, 'Other');
  await cast(server, 'Steve');
  const { votes } = tallyport.deps;
  await votes.updateOne({ serverId: server.serverId }, { $set: { excludedAt: tallyport.clock.now() } });
  expect((await read(server)).votes).toEqual([
    expect.objectContaining({ username: 'Steve', excluded: true }),
  ]);
});

test('an invented cursor skips at most as many votes as there are of its moment', async () => {
  const server = await tallyport.addServer();
  const [id] = await cast(server, 'Steve');
  const cursor = Buffer.from(`${tallyport.clock.now().getTime() + HOUR}.9999999`).toString('base64url');
  expect((await read(server, `?cursor=${cursor}`)).votes.map((vote) => vote.id)).toEqual([id]);
});

const text = (cursor: string) => Buffer.from(cursor).toString('base64url');

test.each([
  ['limit=0', 'limit must be a whole number, 1 to 100.'],
  ['limit=101', 'limit must be a whole number, 1 to 100.'],
  ['limit=1.5', 'limit must be a whole number, 1 to 100.'],
  ['limit=1&limit=2', 'limit must be given only once.'],
  ['username=', 'username must not be empty.'],
  ['cursor=x', 'cursor must be a next_cursor of the same list.'],
  ['cursor=', 'cursor must be a next_cursor of the same list.'],
  [`cursor=${'x'.repeat(10_000)}`, 'cursor must be a next_cursor of the same list.'],
  [`cursor=${text('seq1')}`, 'cursor must be a next_cursor of the same list.'],
  [`username=Steve&cursor=${text('1764230400000.3')}`, 'cursor must be a next_cursor of the same list.'],
  [`cursor=${text('1764230400000.99999999')}`, 'cursor must be a next_cursor of the same list.'],
])('400: %s', async (query, error) => {
  const server = await tallyport.addServer();
  const answer = await tallyport.call(server, `votes?${query}`);
  expect([answer.status, answer.body]).toMatchObject([400, { error, code: 'malformed' }]);
});
