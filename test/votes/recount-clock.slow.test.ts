import { expect, test } from 'vitest';
import { after, DAY, HOUR } from '../../src/platform/clock.ts';
import { dayOf, startOfDay } from '../../src/platform/periods/period-marks.ts';
import { recountVotes } from '../../src/votes/recount-votes.ts';
import { movableClock } from '../support/start-app.ts';
import { accept, ballot, counted, flushCounts, votingForAll } from './voting.ts';

const voting = await votingForAll();

test('a recount keeps the votes that a process with a clock an hour ahead has counted', async () => {
  const { one } = voting;
  const clock = movableClock();
  // At noon, so that an hour later is the same day.
  clock.move(after(startOfDay(dayOf(clock.now())), DAY / 2).getTime() - clock.now().getTime());
  const right = { ...one, clock };
  const ahead = { ...one, clock: { now: () => after(clock.now(), HOUR) } };
  const { serverId } = ballot('');
  const day = dayOf(clock.now());
  for (const name of ['Steve', 'Alex', 'Notch']) await accept(ahead, ballot(name, serverId));
  await accept(right, ballot('Jeb', serverId));

  await flushCounts();
  expect(await recountVotes(right, serverId, [day])).toEqual([]);
  expect(await counted(one, serverId)).toBe(4);

  // The same where the counter was wrong.
  await one.voteCounters.updateOne({ serverId }, { $set: { [`days.${day.slice(8)}`]: 9 } });
  expect(await recountVotes(right, serverId, [day])).toEqual([{ day, counted: 9, votes: 4 }]);
});
