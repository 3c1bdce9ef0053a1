import { ObjectId } from 'mongodb';
import { describe, expect, test } from 'vitest';
import { subscribeDiscordWebhooks } from '../../src/database/migrations/0008-discord-subscriptions.ts';
import { eventIdOf } from '../../src/events/event.ts';
import type { Subscription } from '../../src/events/subscription.ts';
import { openSubscribedWebhook } from '../../src/events/subscription-secret.ts';
import { subscribe } from '../events/source-bench.ts';
import { NOTICE_KINDS } from '../notifications/notification-bench.ts';
import { testDeps } from '../support/test-deps.ts';

const TOKEN = 'z'.repeat(60);

/** A database as builds before this version wrote it. */
async function earlier(webhook: object = {}) {
  const deps = await testDeps();
  const { db } = deps.mongo;
  const serverId = new ObjectId();
  const sealed = deps.secrets.seal(
    `123456789012345678/${TOKEN}`,
    `discord webhook of ${serverId.toHexString()}`,
  );
  const setAt = new Date('2026-11-01T00:00:00.000Z');
  const stored = {
    _id: serverId,
    sealed,
    ending: '5678',
    setAt,
    kindsOff: [],
    off: null,
    failing: null,
    ...webhook,
  };
  await db.collection('discord_webhooks').insertOne(stored);
  const message = (id: string, more: object = {}) => ({
    _id: id as never,
    to: serverId.toHexString(),
    serverId,
    subject: 'its vote listener is paused',
    sealedText: 'sealed',
    createdAt: new Date(),
    attempts: 1,
    ...more,
  });
  return {
    deps,
    db,
    serverId,
    stored,
    message,
    migrate: () => subscribeDiscordWebhooks(deps.mongo),
    subscription: () => deps.subscriptions.findOne({ _id: serverId }) as Promise<Subscription>,
  };
}

describe('the Discord webhook of a server', () => {
  test('becomes a subscription with the kinds that were on, and is gone; a second run changes nothing', async () => {
    const { deps, db, serverId, migrate, subscription } = await earlier({ kindsOff: ['review', 'server'] });
    const before = new Date();
    await migrate();
    const made = await subscription();
    expect(made).toMatchObject({
      serverId,
      type: 'discord',
      name: 'Discord',
      ending: '5678',
      slot: 0,
      calls: 0,
    });
    const off = ['server.offline', 'server.online', 'review.published'];
    expect(made.kinds).toEqual(NOTICE_KINDS.filter((kind) => !off.includes(kind)));
    expect(made.since.getTime()).toBeGreaterThanOrEqual(before.getTime());
    expect(made).not.toHaveProperty('pause');
    expect(openSubscribedWebhook(deps.secrets, made)).toEqual({ id: '123456789012345678', token: TOKEN });
    expect(await db.collection('discord_webhooks').countDocuments()).toBe(0);
    await migrate();
    expect(await subscription()).toEqual(made);
  });

  test('that is off or failing stays so', async () => {
    const at = new Date('2026-11-20T00:00:00.000Z');
    const off = await earlier({ off: { at, reason: 'deleted' } });
    await off.migrate();
    expect(await off.subscription()).toMatchObject({ pause: { at, by: 'gone', reason: 'deleted' } });
    const failing = await earlier({ failing: { at, reason: 'HTTP 400, 50035' } });
    await failing.migrate();
    expect(await failing.subscription()).toMatchObject({
      failingSince: expect.any(Date),
      lastReason: 'HTTP 400, 50035',
    });
  });

  test('takes a free place beside other subscriptions', async () => {
    const { deps, serverId, migrate, subscription } = await earlier();
    await subscribe(deps, serverId, ['milestone']);
    await migrate();
    expect(await subscription()).toMatchObject({ slot: 1 });
  });

  test('that an owner sets again on a page of the previous version replaces the address', async () => {
    const { deps, db, serverId, stored, migrate, subscription } = await earlier({
      off: { at: new Date(), reason: 'deleted' },
    });
    await migrate();
    const sealed = deps.secrets.seal(
      `999999999999999999/${TOKEN}`,
      `discord webhook of ${serverId.toHexString()}`,
    );
    await db
      .collection<{ _id: ObjectId }>('discord_webhooks')
      .insertOne({ ...stored, sealed, ending: '9999', off: null } as never);
    await migrate();
    const made = await subscription();
    expect(made).toMatchObject({ ending: '9999', revision: 2 });
    expect(made).not.toHaveProperty('pause');
    expect(openSubscribedWebhook(deps.secrets, made).id).toBe('999999999999999999');
  });

  test('two machines, or a run after an interrupted one, make one', async () => {
    const { deps, db, serverId, migrate, subscription } = await earlier({ kindsOff: ['server'] });
    await Promise.all([migrate(), migrate()]);
    expect(await deps.subscriptions.countDocuments({ serverId })).toBe(1);
    const other = await earlier({
      kindsOff: ['server', 'review', 'listener', 'expiring', 'exclusion'],
      kindsOn: ['review.published'],
    });
    await other.migrate();
    expect((await other.subscription()).kinds).toEqual(['review.published']);
    expect((await subscription()).kinds).not.toContain('server.offline');
    expect(await db.collection('discord_webhooks').countDocuments()).toBe(0);
  });
});

test('messages that wait become events under the ids of this version; sent ones do not', async () => {
  const { deps, db, serverId, message, migrate, subscription } = await earlier();
  const messages = db.collection('discord_messages');
  const review = new ObjectId().toHexString();
  await messages.insertMany([
    message('paused:1:2', { nextAt: new Date() }),
    message(`review:${review}`, {
      nextAt: new Date(Date.now() + 60_000),
      subject: 'a new review, 5 of 5 stars',
    }),
    message('more:1:2', { nextAt: new Date() }),
    message('offline:1:2', { sentAt: new Date() }),
  ]);
  await migrate();
  await migrate();
  const events = await deps.events.find().sort({ type: 1 }).toArray();
  expect(events).toMatchObject([
    {
      _id: eventIdOf('listener.down', 'paused:1:2'),
      serverId,
      text: { subject: 'its vote listener is paused', part: '/listener' },
      sends: [{ to: serverId, attempts: 0 }],
    },
    { _id: eventIdOf('review.published', `review:${review}`), text: { part: '/reviews' } },
  ]);
  expect(await messages.distinct('_id')).toEqual(['offline:1:2']);
  expect((await subscription()).nextPassAt).toBeInstanceOf(Date);
});

test('a message that the previous version is sending is left to it, and moved if it fails', async () => {
  const { deps, db, serverId, message, migrate } = await earlier();
  const messages = db.collection<{ _id: string }>('discord_messages');
  const now = new Date();
  const leaseUntil = new Date(now.getTime() + 60_000);
  await messages.insertMany([
    message('paused:1:2', { nextAt: now, leaseUntil }),
    message('returned:1:2', { nextAt: now, leaseUntil }),
  ]);
  const migrating = migrate();
  const { deletedCount } = await messages.deleteOne({ _id: 'paused:1:2' });
  expect(deletedCount).toBe(1);
  await messages.updateOne({ _id: 'returned:1:2' }, { $unset: { leaseUntil: '' } });
  await migrating;
  const events = await deps.events.find({ serverId }).toArray();
  expect(events.map(({ type }) => type)).toEqual(['listener.back']);
});

test('an outage that Discord was told of is not told again, only its end', async () => {
  const { deps, db, serverId, migrate } = await earlier();
  const since = new Date();
  const listenerId = new ObjectId();
  await db.collection('listener_notices').insertOne({ _id: listenerId, serverId, since, pauseTold: since });
  await db.collection('server_notices').insertOne({ _id: serverId, since, offlineToldAt: since });
  await migrate();
  expect(await deps.sentNotifications.findOne({ _id: listenerId })).toMatchObject({
    events: { since, pauseTold: since, unreachableTold: null },
  });
  expect(await deps.serverNotices.findOne({ _id: serverId })).toMatchObject({ eventSince: since });
});
