import { expect, test } from 'vitest';
import { DAY, MINUTE } from '../../src/platform/clock.ts';
import { liveBench } from './live-bench.ts';

test('a day of changes, one each minute: one message, 1,440 edits, no rule of Discord broken', async () => {
  const bench = await liveBench();
  await bench.players(0);
  await bench.set();
  for (let minute = 0; minute < DAY / MINUTE; minute += 1) {
    await bench.players(minute % 97);
    expect(await bench.minute()).toEqual(['edited']);
    bench.clock.move(MINUTE);
  }
  expect(bench.shown()).toHaveLength(1);
  const [{ edits } = { edits: [] }] = [...bench.discord.shown.values()];
  expect(edits).toHaveLength(1_440);
  const gaps = edits.slice(1).map((at, n) => at.getTime() - (edits[n]?.getTime() ?? 0));
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(MINUTE);
  expect(bench.complaints()).toEqual([]);
}, 600_000);
