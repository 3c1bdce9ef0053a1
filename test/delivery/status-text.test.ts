import { expect, it } from 'vitest';
import { statusText } from '../../src/delivery/timeline/status-text.ts';
import type { WaitingFor } from '../../src/delivery/waiting-for.ts';

const HELD = 'The operator of this listing has paused vote delivery for all servers.';
const at = new Date();

function shown(waitingFor: WaitingFor, { fetched = false } = {}): string {
  const status = { state: 'waiting', waitingFor, reason: null, ahead: 0, givenUpAt: null, fetched } as const;
  return statusText(status, { on: () => '…', next: () => '…' }, true);
}

it.each([
  'listener-test',
  'own-retry',
  'outgoing-limit',
] as const)('of a vote that waits for %s says that delivery is paused for all servers', (kind) => {
  expect(shown({ kind, at })).toContain(HELD);
  expect(shown({ kind, at }, { fetched: true })).not.toContain(HELD);
});

it.each([
  'turn',
  'resume',
  'no-listener',
] as const)('of a vote that waits for %s says no second reason', (kind) => {
  expect(shown({ kind })).not.toContain(HELD);
});
