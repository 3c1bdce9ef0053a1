import { expect, test } from 'vitest';
import { showListener } from '../../src/delivery/change-listener.ts';
import { GREETS_AS_V2 } from '../../src/listeners/outcomes.ts';
import { after, MINUTE, SECOND } from '../../src/platform/clock.ts';
import { listenerLine, listenerStateSection } from '../../src/site/shared/listener-state-parts.ts';
import { deliveryBench } from '../support/delivering.ts';
import { textOf } from '../support/web-app.ts';

test('an unreachable listener shows when it took its last vote, and that a test is running once it is due', async () => {
  const { deps, serverId, cast, drain, listener, clock } = await deliveryBench();
  await cast('Steve');
  await drain();
  await listener.stop();
  for (const name of ['Alex', 'Kai', 'Mia']) await cast(name);
  await drain();
  const view = await showListener(deps, serverId);
  if (!view?.breaker.nextTestAt) throw new Error('the listener is not unreachable');
  const { nextTestAt } = view.breaker;
  const read = async (now: Date) =>
    textOf(String(await listenerStateSection({ listener: view, queuePaused: false }, '/x', now))).replaceAll(
      ' ,',
      ',',
    );
  const line = async (now: Date) =>
    textOf(String(await listenerLine({ listener: view, queuePaused: false }, now)));

  expect(await read(after(nextTestAt, -MINUTE))).toMatch(/Next test in 1 minute, with one vote/);
  for (const now of [after(nextTestAt, -4 * SECOND), after(nextTestAt, -1)]) {
    expect(await read(now)).toContain('Next test in a few seconds, with one vote');
    expect(await line(now)).toContain('Next test in a few seconds.');
  }
  for (const now of [nextTestAt, after(nextTestAt, SECOND), after(nextTestAt, MINUTE)]) {
    expect(await read(now)).toContain('Next test now, with one vote');
    expect(await line(now)).toContain('It is being tested.');
  }
  for (const shown of [await read(clock.now()), await line(clock.now())]) {
    expect(shown).toMatch(/[Ll]ast (vote )?delivered \d+ \w+ \d{4}, \d\d:\d\d UTC/);
    expect(shown).not.toContain('delivered just now');
  }
});

test('after a test vote without an answer, the page does not say that it did not arrive', async () => {
  const { deps, serverId, clock } = await deliveryBench();
  const read = async (code: 'no-answer' | 'connection-refused') => {
    await deps.listeners.updateOne({ serverId }, { $set: { tested: { at: clock.now(), code } } });
    const listener = await showListener(deps, serverId);
    if (!listener) throw new Error('there is no listener');
    return textOf(String(await listenerStateSection({ listener, queuePaused: false }, '/x', clock.now())));
  };
  expect(await read('no-answer')).toMatch(/The last test vote was not confirmed: .* may have arrived/);
  expect(await read('connection-refused')).toContain(
    'The last test vote did not arrive: The machine answers',
  );
});

test('the page names the cause of a failed attempt and test as their own pages do: by how the listener greets', async () => {
  const { deps, serverId, clock } = await deliveryBench();
  const read = async (change: object) => {
    await deps.listeners.updateOne({ serverId }, { $set: { protocol: 'votifier-v1', ...change } });
    const listener = await showListener(deps, serverId);
    if (!listener) throw new Error('there is no listener');
    return textOf(String(await listenerStateSection({ listener, queuePaused: false }, '/x', clock.now())));
  };
  const failed = { failures: 1, tests: 0, code: 'no-answer', detail: GREETS_AS_V2 };
  expect(await read({ breaker: failed })).toMatch(
    /The last attempt failed: .* is slow or hangs, the server is over/,
  );
  const result = { step: 'acknowledgement', detail: GREETS_AS_V2 };
  const tested = { at: clock.now(), code: 'no-answer', result };
  expect(await read({ breaker: { failures: 0, tests: 0 }, tested })).toMatch(
    /The last test vote was not confirmed: .* is slow or hangs, the server is over/,
  );
});
