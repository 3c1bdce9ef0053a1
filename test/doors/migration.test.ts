import { expect, test } from 'vitest';
import { migrateDatabase } from '../../src/database/migrate.ts';
import { MIGRATIONS } from '../../src/database/migrations.ts';
import { databaseOf } from '../database/earlier-release.ts';
import { stoppedClock } from '../support/stopped-clock.ts';
import { openWebAppOn } from '../support/web-app.ts';

test('a database that 0.1.0 made is migrated once, and its servers and votes are served as before', async () => {
  const { deps, serverId, token } = await databaseOf('0.1.0');
  const { migrations } = await migrateDatabase(deps.mongo);
  expect(migrations).toEqual(MIGRATIONS.map(({ name }) => name));
  expect(await migrateDatabase(deps.mongo)).toEqual({ created: [], migrations: [] });

  const clock = stoppedClock(new Date('2026-11-22T10:00:00Z'));
  const { app } = await openWebAppOn({ ...deps, clock });
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  const call = async (endpoint: string, body?: object) => {
    const answer = await fetch(`${url}/api/v1/servers/${serverId.toHexString()}/${endpoint}`, {
      method: body ? 'POST' : 'GET',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: body ? JSON.stringify(body) : null,
    });
    return { status: answer.status, body: await answer.json() };
  };
  expect((await call('info')).body).toMatchObject({
    name: 'Beta',
    address: 'beta.example.org',
    online_players: 12,
    votes_count: 1,
    all_time_votes: 1,
    rank_position: 2,
    date_added: '2026-11-22T09:00:00.000Z',
  });
  expect((await call('votes')).body).toMatchObject({
    votes: [{ username: 'Notch', voted_at: '2026-11-22T09:30:00.000Z', delivery: 'none', excluded: false }],
    next_cursor: null,
  });

  // Notch voted with 0.1.0, half an hour before.
  expect(await call('vote', { username: 'Notch' })).toMatchObject({ status: 429 });
  expect(await call('check-vote?username=Notch')).toMatchObject({ body: { has_voted: true } });
  expect(await call('check-vote?username=Steve')).toMatchObject({ body: { has_voted: false } });
  expect(await call('vote', { username: 'Steve' })).toMatchObject({
    body: { success: true, monthly_votes: 2 },
  });
  expect(await call('check-vote?username=Steve')).toMatchObject({ body: { has_voted: true } });
});
