import { expect, test } from 'vitest';
import type { AttemptEvent } from '../../src/delivery/timeline/timeline-event.ts';
import { type Text, t } from '../../src/language/t.ts';
import { NOTHING_TO_DO } from '../../src/listeners/explanation.ts';
import { OUTCOMES } from '../../src/listeners/outcomes.ts';
import { timelineList } from '../../src/site/shared/timeline-list.ts';
import { textOf } from '../support/web-app.ts';

const { cause: CAUSE, advice: OPEN_THE_PORT } = OUTCOMES['connection-refused'].text;
const { advice: CHECK_THE_LOAD } = OUTCOMES['too-slow'].text;

const END = {
  code: 'connection-refused',
  class: 'transient',
  reached: 'resolved',
  cause: CAUSE,
  words: null,
  detail: null,
  durationMs: 3,
} as const;

function attempt(number: number, advice: Text, over: object = {}): AttemptEvent {
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
    attempt(1, OPEN_THE_PORT),
    attempt(2, CHECK_THE_LOAD),
    attempt(3, OPEN_THE_PORT),
    attempt(4, NOTHING_TO_DO, { code: 'acknowledged', class: 'delivered' }),
  ];
  const items = String(await timelineList(events))
    .split('<li')
    .slice(1);
  const advice = [OPEN_THE_PORT, CHECK_THE_LOAD];
  expect(items.map((one) => advice.find((text) => one.includes(t(text))))).toEqual([
    undefined,
    CHECK_THE_LOAD,
    OPEN_THE_PORT,
    undefined,
  ]);
  expect(items.filter((one) => one.includes(t(CAUSE)))).toHaveLength(4);
});

test('times count from the first event, a long wait is a line, and the listener’s words are code', async () => {
  const start = new Date('2026-11-21T23:59:00.000Z');
  const later = (ms: number) => new Date(start.getTime() + ms);
  const refused = { ...attempt(1, OPEN_THE_PORT, { words: 'Not <me>' }), at: later(8) };
  const taken = attempt(2, NOTHING_TO_DO, { code: 'acknowledged', class: 'delivered' });
  const log = String(
    await timelineList([{ kind: 'accepted', at: start }, refused, { ...taken, at: later(164_011) }]),
  );
  expect(log).toContain('<code class="say"><bdi>Not &lt;me&gt;</bdi></code>');
  const text = textOf(log).trim();
  expect(text).toMatch(/^23:59:00 Accepted \+8 ms 23:59:00 Attempt 1 connection refused/);
  expect(text).toContain('waited 2m 44s +2m 44s 22 Nov, 00:01:44 Attempt 2 acknowledged');
});

test('three or more equal attempts in a row are one line, and each is in it; what differs stays apart', async () => {
  const refused = (number: number) => attempt(number, OPEN_THE_PORT, { durationMs: number });
  const told = attempt(6, OPEN_THE_PORT, { words: 'Full' });
  const events = [...[1, 2, 3, 4, 5].map(refused), told, ...[7, 8].map(refused)];
  const log = String(await timelineList(events));
  const [head = '', inside = ''] = log.split('<details>');
  expect(textOf(head)).toContain('Attempts 1–5 5 × connection refused');
  expect(textOf(inside)).toContain('Each of them, from 1 Jan 1970, 00:00:01 UTC to 1 Jan 1970, 00:00:05 UTC');
  const [each = '', after = ''] = inside.split('</details>');
  expect(textOf(each).match(/Attempt \d/g)).toEqual([
    'Attempt 1',
    'Attempt 2',
    'Attempt 3',
    'Attempt 4',
    'Attempt 5',
  ]);
  expect(textOf(each)).toContain('Duration: 4 ms.');
  expect(textOf(after).match(/Attempt \d/g)).toEqual(['Attempt 6', 'Attempt 7', 'Attempt 8']);
  // Advice that is shown with a later attempt is not repeated.
  expect(log.split(t(OPEN_THE_PORT))).toHaveLength(2);
});
