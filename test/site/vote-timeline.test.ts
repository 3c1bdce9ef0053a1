import { expect, test } from 'vitest';
import type { AttemptEvent } from '../../src/delivery/timeline/timeline-event.ts';
import { timelineList } from '../../src/site/shared/vote-timeline.ts';

const END = {
  code: 'connection-refused',
  class: 'transient',
  reached: 'resolved',
  cause: 'Nothing listens on this port.',
  words: null,
  detail: null,
  durationMs: 3,
} as const;

function attempt(number: number, advice: string, over: object = {}): AttemptEvent {
  return {
    kind: 'attempt',
    at: new Date(number * 1_000),
    id: String(number),
    number,
    test: false,
    protocol: 'votifier-v2',
    worker: 'worker-1',
    wokenBy: null,
    relayed: false,
    end: { ...END, advice, ...over },
    underWay: false,
    lateAt: null,
  } as AttemptEvent;
}

test('advice that several attempts share is shown once, with the newest of them', async () => {
  const events = [
    attempt(1, 'Open the port.'),
    attempt(2, 'Check the token.'),
    attempt(3, 'Open the port.'),
    attempt(4, 'Open the port.', { code: 'delivered', class: 'delivered' }),
  ];
  const items = String(await timelineList(events))
    .split('<li')
    .slice(1);
  expect(items.map((one) => /Open the port|Check the token/.exec(one)?.[0])).toEqual([
    undefined,
    'Check the token',
    'Open the port',
    undefined,
  ]);
  expect(items.filter((one) => one.includes(END.cause))).toHaveLength(4);
});
