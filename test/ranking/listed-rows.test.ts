import { ObjectId, UUID } from 'mongodb';
import { expect, test } from 'vitest';
import { inLanguage } from '../../src/language/language.ts';
import { after, MINUTE } from '../../src/platform/clock.ts';
import { listedRows } from '../../src/ranking/listed-rows.ts';
import { addServer } from '../../src/servers/listed-servers.ts';
import { serverList } from '../../src/site/public/server-list.ts';
import { testDeps } from '../support/test-deps.ts';

test('a list says where the players are the server’s own word, and where a probe counted them', async () => {
  const deps = await testDeps();
  const now = deps.clock.now();
  const settings = { name: 'Alpha', address: 'play.example.org', port: 25_565 };
  const _id = new ObjectId((await addServer(deps, settings, 'test')).serverId);
  const report = {
    lastReport: { id: new UUID(), at: after(now, -MINUTE) },
    'current.onlinePlayers': 1_000_000,
  };
  await deps.servers.updateOne({ _id }, { $set: report });
  const shown = async () => {
    const rows = await listedRows(deps, [_id]);
    return {
      rows,
      page: String(serverList(rows, { base: '', config: deps.config, now, favourites: new Set(), tags: [] })),
    };
  };
  const reported = await shown();
  expect(reported.rows).toMatchObject([{ onlinePlayers: 1_000_000, source: 'reports' }]);
  expect(reported.page).toContain('>reported</span>');

  const probed = { 'probe.succeededAt': now, 'probe.checkedAt': now, 'probe.status': 'online' as const };
  await deps.servers.updateOne({ _id }, { $set: { ...probed, 'current.onlinePlayers': 4 } });
  const counted = await shown();
  expect(counted.rows).toMatchObject([{ onlinePlayers: 4, source: 'probes' }]);
  expect(counted.page).not.toContain('>reported</span>');
  expect(counted.page).toContain('/vote"');
  await deps.servers.updateOne({ _id }, { $set: { webVotes: false } });
  expect((await shown()).page).not.toContain('/vote"');

  await deps.servers.updateOne(
    { _id },
    { $set: { 'current.onlinePlayers': 0, 'current.playersHidden': true } },
  );
  const hidden = await shown();
  expect(hidden.rows).toMatchObject([{ onlinePlayers: 0, playersHidden: true }]);
  expect(hidden.page).toContain('Players hidden');
  expect((await inLanguage('de', shown)).page).toContain('Spielerzahl verborgen');

  // A process of an older version stores a number and leaves the mark.
  await deps.servers.updateOne({ _id }, { $set: { 'current.onlinePlayers': 2 } });
  expect((await shown()).rows).toMatchObject([{ onlinePlayers: 2, playersHidden: false }]);
});
