import { ObjectId } from 'mongodb';
import { beforeEach, expect, test } from 'vitest';
import { countMail } from '../../src/accounts/mail-limits.ts';
import { after, DAY, HOUR } from '../../src/platform/clock.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { type StoppedClock, stoppedClock } from '../support/stopped-clock.ts';
import { testDeps } from '../support/test-deps.ts';

let deps: AppDeps & { clock: StoppedClock };

beforeEach(async () => {
  deps = { ...(await testDeps()), clock: stoppedClock() };
});

/** Uses up a limit of `most`: after the first mail, the last one is allowed and a further one refused. */
async function useUp(kind: string, most: number, send: (n: number) => Promise<Date | null>): Promise<Date> {
  expect(await send(1)).toBeNull();
  const { matchedCount } = await deps.rateLimits.updateMany(
    { _id: new RegExp(`^${kind}`) },
    { $set: { count: most - 1 } },
  );
  expect(matchedCount).toBe(1);
  expect(await send(2)).toBeNull();
  const until = await send(3);
  expect(until).toBeInstanceOf(Date);
  return until as Date;
}

const to = (email: string, address = '203.0.113.7', userId?: ObjectId) =>
  countMail(deps, { email, address, ...(userId && { userId }) });

test('an address gets five mails an hour, whichever users and networks cause them', async () => {
  const written = [' ANN@Example.org', 'ann@example.org', 'Ann@example.org '];
  const send = (n: number) => to(written[n - 1] ?? '', `203.0.113.${n}`, new ObjectId());
  expect(await useUp('link:email:', 5, send)).toEqual(after(deps.clock.now(), HOUR));
  expect(await to('ben@example.org')).toBeNull();
  deps.clock.move(HOUR);
  expect(await to('ann@example.org')).toBeNull();
  expect(JSON.stringify(await deps.rateLimits.find().toArray())).not.toMatch(/ann@example/i);
});

test('a network causes twenty mails an hour, and an IPv6 /48 eighty', async () => {
  const send = (n: number) => to(`a${n}@example.org`);
  expect(await useUp('link:address:', 20, send)).toEqual(after(deps.clock.now(), HOUR));
  expect(await to('ben@example.org', '203.0.113.8')).toBeNull();
  const inSite = (n: number) => to(`b${n}@example.org`, `2001:db8:7:${n}::1`);
  await useUp('link:address:.*/48$', 80, inSite);
  expect(await to('cleo@example.org', '2001:db8:8:1::1')).toBeNull();
});

test('a user causes twenty mails to others a day, from all networks', async () => {
  const userId = new ObjectId();
  const send = (n: number) => to(`a${n}@example.org`, `203.0.113.${n}`, userId);
  expect(await useUp('mail:user:', 20, send)).toEqual(after(deps.clock.now(), DAY));
  expect(await to('ben@example.org', '203.0.113.1', new ObjectId())).toBeNull();
});

test('all clients together cause a thousand mails an hour', async () => {
  const send = (n: number) => to(`a${n}@example.org`, `20.${n}.1.1`);
  expect(await useUp('link:all', 1_000, send)).toEqual(after(deps.clock.now(), HOUR));
});
