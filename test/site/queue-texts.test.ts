import { expect, test } from 'vitest';
import { describeForwarding } from '../../src/site/admin/queue-board.ts';

const now = new Date('2026-11-21T15:00:00.000Z');
const title = 'Forward votes';

test('an unreachable listener shows the reason and the time', () => {
  const progress = {
    server: 'alpha',
    waiting: 1_204,
    reason: 'connection-refused',
    since: '2026-11-21T14:02:10.000Z',
  };
  expect(describeForwarding(progress, title, now)).toBe(
    'alpha: 1,204 votes waiting, connection refused since 14:02 UTC',
  );
});

test('a time on another day includes the day', () => {
  const progress = { server: 'alpha', waiting: 3, reason: 'silent', since: '2026-11-19T23:59:00.000Z' };
  expect(describeForwarding(progress, title, now)).toBe(
    'alpha: 3 votes waiting, silent since 19 Nov, 23:59 UTC',
  );
});

test('a listener that answers shows the number of waiting votes', () => {
  expect(describeForwarding({ server: 'beta', waiting: 1 }, title, now)).toBe('beta: 1 vote waiting');
});

test('a job in progress shows the server’s name', () => {
  expect(describeForwarding({ server: 'beta' }, title, now)).toBe('Forward votes: beta');
});

test.each([
  0,
  undefined,
  {},
  'half',
  { server: 1, waiting: 'x' },
])('progress %j is the title of the queue', (progress) => {
  expect(describeForwarding(progress, title, now)).toBe(title);
});
