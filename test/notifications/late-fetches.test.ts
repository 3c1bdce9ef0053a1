import { ObjectId } from 'mongodb';
import { expect, test } from 'vitest';
import { pauseListener } from '../../src/delivery/change-listener.ts';
import { setFetchListener } from '../../src/delivery/fetch/fetch-listener.ts';
import { fetchingListener, noteTake } from '../../src/delivery/fetch/fetching-listener.ts';
import { settleDeliveries, type TakerOutcome } from '../../src/delivery/fetch/settle-deliveries.ts';
import { takeDeliveries } from '../../src/delivery/fetch/take-deliveries.ts';
import { HOUR, MINUTE } from '../../src/platform/clock.ts';
import { issueToken } from '../../src/servers/api-tokens.ts';
import { castVote } from '../support/casting.ts';
import { notificationBench } from './notification-bench.ts';

/** A server whose votes are fetched and settled with one outcome by `fetchAll`. */
async function fetchingBench() {
  const bench = await notificationBench();
  const { deps, serverId } = bench;
  await setFetchListener(deps, serverId, { serviceName: 'Tallyport' }, 'test');
  const { tokenId } = await issueToken(deps, { serverId, name: 'plugin' });
  return {
    ...bench,
    cast: (username: string) => castVote(deps, { serverId, username, tokenId: new ObjectId(tokenId) }),
    async fetchAll(outcome: TakerOutcome, reason?: string) {
      const listener = await fetchingListener(deps, serverId);
      if (!listener) throw new Error('no listener');
      await noteTake(deps, listener, 'plugin/1.0');
      const taken = await takeDeliveries(deps, listener, { most: 100, leaseMs: MINUTE });
      const results = taken.map(({ vote, attempt }) => {
        if (!attempt.id) throw new Error('an attempt without an id');
        return { voteId: vote._id, lease: attempt.id.toString(), outcome, reason };
      });
      if (results.length > 0) await settleDeliveries(deps, serverId, results);
      return results.length;
    },
  };
}

test('an owner gets one mail a day before votes expire that are fetched and always answered `retry`', async () => {
  const { clock, cast, fetchAll, tell, mails } = await fetchingBench();
  await cast('Steve');
  clock.move(47 * HOUR);
  expect(await fetchAll('retry', 'The plugin is not loaded.')).toBe(1);
  await tell();
  expect(await mails()).toEqual([]);
  clock.move(2 * HOUR);
  expect(await fetchAll('retry', 'The plugin is not loaded.')).toBe(1);
  await tell();
  await tell();
  const letters = await mails();
  expect(letters.map(({ event }) => event)).toEqual(['expiring']);
  expect(letters[0]?.text).toContain('1 vote waits');
  expect(letters[0]?.text).toContain('could not hand this one over');
  expect(letters[0]?.text).toContain('The plugin is not loaded.');
});

test('if fetched votes are younger, handed over, or their listener is paused, no mail says that they expire', async () => {
  const { deps, serverId, clock, cast, fetchAll, tell, mails } = await fetchingBench();
  await cast('Steve');
  await fetchAll('delivered');
  clock.move(49 * HOUR);
  await cast('Alex');
  await fetchAll('retry');
  await tell();
  expect(await mails()).toEqual([]);
  // Paused a moment ago: that outage has its own mail a day before votes expire.
  await pauseListener(deps, serverId, 'test');
  await tell();
  expect(await mails()).toEqual([]);
});
