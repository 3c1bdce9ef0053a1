import { expect, test } from 'vitest';
import { after, HOUR, MINUTE, SECOND } from '../../src/platform/clock.ts';
import { pauseListing, resumeListing } from '../../src/workflows/pause-listing.ts';
import { type NotificationBench, notificationBench } from './notification-bench.ts';

/** What our probes found, now. */
async function seen({ deps, serverId, clock }: NotificationBench, isOnline: boolean, offlineMinutes = 20) {
  const now = clock.now();
  const offlineSince = isOnline ? null : after(now, -offlineMinutes * MINUTE);
  const state = {
    'probe.status': isOnline ? 'online' : 'offline',
    'probe.checkedAt': now,
    'probe.offlineSince': offlineSince,
  };
  const answered = isOnline ? { 'probe.succeededAt': now } : {};
  await deps.servers.updateOne(
    { _id: serverId },
    { $set: { game: 'minecraft', ...state, ...answered } as never },
  );
}

const kinds = async (bench: NotificationBench) => (await bench.mails()).map(({ event }) => event);

test('no mail and no event says in a pause that the server is offline, nor after it that it is online again', async () => {
  const bench = await notificationBench();
  const { deps, serverId, clock } = bench;
  await seen(bench, true);
  await pauseListing(deps, serverId, {}, 'test');
  clock.move(HOUR);
  // As three checks by hand in a pause make it.
  await seen(bench, false);
  expect(await bench.tell()).toBe(0);
  await resumeListing(deps, serverId, 'test');
  expect(await bench.tell()).toBe(0);
  clock.move(MINUTE);
  await seen(bench, true);
  expect(await bench.tell()).toBe(0);
  expect(await bench.events()).toEqual([]);
  // An outage after the pause is news again.
  clock.move(HOUR);
  await seen(bench, false);
  await bench.tell();
  expect(await kinds(bench)).toEqual(['offline']);
});

test('a server that was online again just before the pause is said to have been offline until then', async () => {
  const bench = await notificationBench();
  const { deps, serverId, clock } = bench;
  await seen(bench, false, 30);
  await bench.tell();
  clock.move(MINUTE);
  await seen(bench, true);
  clock.move(SECOND);
  await pauseListing(deps, serverId, {}, 'test');
  clock.move(9 * HOUR);
  await bench.tell();
  const [, online] = await bench.mails();
  expect(online?.text).toContain('for 31 minutes');
  await resumeListing(deps, serverId, 'test');
  clock.move(MINUTE);
  await seen(bench, true);
  await bench.tell();
  expect(await kinds(bench)).toEqual(['offline', 'online']);
});
