import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import type { HistoryPoint } from '../../src/history/history.ts';
import { inSlots } from '../../src/history/history-slots.ts';
import { HOUR, MINUTE } from '../../src/platform/clock.ts';

const at = (time: string) => new Date(`2028-03-01T${time}:00Z`);

const online = (time: string, players: number, latencyMs: number | null = null): HistoryPoint => ({
  at: at(time),
  source: 'probes',
  averagePlayers: players,
  peakPlayers: players,
  latencyMs,
  onlineShare: 1,
  reason: null,
});
const none = { source: null, averagePlayers: null, peakPlayers: null, latencyMs: null, onlineShare: null };
const unknown = (time: string, reason: HistoryPoint['reason'] = 'no-data') => ({
  ...none,
  at: at(time),
  reason,
});
const offline = (time: string): HistoryPoint => ({
  ...unknown(time, null),
  source: 'probes',
  onlineShare: 0,
});

const shown = ({ at, averagePlayers, peakPlayers, onlineShare, reason }: HistoryPoint) => [
  at.toISOString().slice(11, 16),
  averagePlayers,
  peakPlayers,
  onlineShare ?? reason,
];

it('averages are weighted by the time from each point to the next', () => {
  const points = [online('10:00', 10), online('10:45', 30), online('11:00', 5)];
  expect(inSlots(points, { slotMs: HOUR, now: at('11:30') }).map(shown)).toEqual([
    ['10:00', 15, 30, 1],
    ['11:00', 5, 5, 1],
  ]);
});

it('a slot without its own point has the values of the point before it', () => {
  const points = [offline('10:00'), online('12:30', 8)];
  expect(inSlots(points, { slotMs: HOUR, now: at('12:40') }).map(shown)).toEqual([
    ['10:00', null, null, 0],
    ['11:00', null, null, 0],
    ['12:00', 8, 8, 0.25],
  ]);
});

it('a slot without data is unknown, for the reason of its longest part; an unknown part does not affect the rest', () => {
  const points = [
    online('10:00', 4),
    unknown('10:10', 'unconfirmed'),
    unknown('11:20', 'canary'),
    online('12:59', 2),
  ];
  expect(inSlots(points, { slotMs: HOUR, now: at('13:00') }).map(shown)).toEqual([
    ['10:00', 4, 4, 1],
    ['11:00', null, null, 'canary'],
    ['12:00', 2, 2, 1],
  ]);
});

it('an hourly point is valid for an hour', () => {
  const points = [online('10:00', 4)];
  const slots = inSlots(points, { slotMs: HOUR, stepMs: HOUR, now: at('18:00') });
  expect(slots.map(shown)).toEqual([['10:00', 4, 4, 1]]);
  expect(inSlots([], { slotMs: HOUR, now: at('18:00') })).toEqual([]);
});

it('for any points: slots follow each other, begin at whole multiples and stay within the known values', () => {
  const point = fc.record({
    minutes: fc.integer({ min: 0, max: 3_000 }),
    players: fc.option(fc.integer({ min: 0, max: 500 })),
  });
  fc.assert(
    fc.property(
      fc.array(point, { minLength: 1, maxLength: 40 }),
      fc.integer({ min: 1, max: 300 }),
      (given, size) => {
        const points = given
          .toSorted((a, b) => a.minutes - b.minutes)
          .map(({ minutes, players }): HistoryPoint => {
            const moment = new Date(at('00:00').getTime() + minutes * MINUTE);
            return players === null
              ? { ...unknown('00:00'), at: moment }
              : { ...online('00:00', players), at: moment };
          });
        const slotMs = size * MINUTE;
        const slots = inSlots(points, { slotMs, now: new Date(at('00:00').getTime() + 3_001 * MINUTE) });
        const players = given.flatMap(({ players }) => players ?? []);
        const [least, most] = [Math.min(...players) - 1e-9, Math.max(...players) + 1e-9];
        const begin = slots[0]?.at.getTime() ?? 0;
        expect(begin % slotMs).toBe(0);
        const wrong = slots.filter(
          ({ at, averagePlayers }, index) =>
            at.getTime() !== begin + index * slotMs ||
            (averagePlayers !== null && !(averagePlayers >= least && averagePlayers <= most)),
        );
        expect(wrong).toEqual([]);
      },
    ),
  );
});
