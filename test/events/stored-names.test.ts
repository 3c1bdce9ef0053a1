import { ObjectId } from 'mongodb';
import { expect, test } from 'vitest';
import { EVENT_KIND_NAMES } from '../../src/events/kinds.ts';
import { notifyOwners } from '../../src/notifications/notify-owners.ts';
import { after, DAY, HOUR, SECOND } from '../../src/platform/clock.ts';
import { moderateReview } from '../../src/reviews/moderate-review.ts';
import { writeReview } from '../../src/reviews/write-review.ts';
import { excludePlayer } from '../support/exclusions.ts';
import { NEVER, sourceBench } from './source-bench.ts';

const NAME = 'Xx_Steve_xX';

test('no stored event has the name of a player', async () => {
  const { deps, clock, serverId, subscribe, cast, count, look } = await sourceBench();
  await subscribe([...EVENT_KIND_NAMES]);
  await look();
  clock.move(SECOND);
  const usernames = { username: NAME, usernameKey: NAME.toLowerCase() };
  await count(await cast(1, usernames));
  await count(await cast(99));
  const review = await writeReview(deps, { serverId, username: NAME, rating: 5, content: `I am ${NAME}` });
  await moderateReview(deps, new ObjectId(review.reviewId), 'approved', 'test');
  await look();
  clock.move(HOUR);
  const range = { username: NAME, serverId, since: after(clock.now(), -DAY), until: clock.now() };
  await excludePlayer(deps, { ...range, reason: 'A bot', reasonForOwner: `${NAME} is a bot` }, 'cli', {
    settledMs: -DAY,
  });
  await notifyOwners(deps, NEVER);
  const events = await deps.events.find().toArray();
  const types = new Set(events.map(({ type }) => type));
  expect([...types].toSorted()).toEqual([
    'exclusion.decided',
    'milestone',
    'review.published',
    'vote.counted',
    'vote.excluded',
  ]);
  expect(JSON.stringify(events).toLowerCase()).not.toContain(NAME.toLowerCase());
});
