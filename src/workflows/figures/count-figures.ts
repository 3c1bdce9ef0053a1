import { type Collection, type Db, ObjectId } from 'mongodb';
import { countDeliveries } from '../../delivery/figures/count-deliveries.ts';
import { DELIVERY_EXPIRES_MS } from '../../listeners/delivery-limits.ts';
import { MAIL_TTL_MS } from '../../mail/mail.ts';
import { after, DAY } from '../../platform/clock.ts';
import { addDays, dayOf, startOfDay } from '../../platform/periods/period-marks.ts';
import { withLease } from '../../platform/periods/work-lease.ts';
import type { Server } from '../../servers/server.ts';
import type { WorkflowsDeps } from '../deps.ts';
import { SITE_FIGURE_DAYS, type SiteFigures } from './site-figures.ts';

/** Votes may be delivered so long: a finished day is counted again on these days. Later, only a resend changes it. */
const OPEN_DAYS = Math.ceil(DELIVERY_EXPIRES_MS / DAY) + 1;

/** A day that no run has counted, as after an upgrade, is counted if it is not longer ago. */
const CATCH_UP_DAYS = 35;

/** If a run dies, the next one counts the days that are left. @throws as `withLease` does */
export function countFigures(
  deps: WorkflowsDeps,
  waiting: () => Promise<Waiting>,
  { signal }: { signal?: AbortSignal } = {},
): Promise<string[]> {
  return withLease(
    deps,
    'count-figures',
    async ({ throwIfLost }) => {
      const today = dayOf(deps.clock.now());
      const days = await dueFigures(deps.siteFigures, today);
      for (const day of days) {
        const now = day === today ? await waiting() : undefined;
        await countSiteDay(deps, day, { waiting: now, throwIfLost });
      }
      return days;
    },
    signal ? { signal } : {},
  );
}

/** Today, days that were never counted, and days whose votes may still wait, unless counted today. */
async function dueFigures(siteFigures: Collection<SiteFigures>, today: string): Promise<string[]> {
  const first = addDays(today, -CATCH_UP_DAYS);
  const stored = await siteFigures
    .find({ day: { $gte: first, $lt: today } }, { projection: { day: 1, countedAt: 1 } })
    .toArray();
  const counted = new Map(stored.map(({ day, countedAt }) => [day, countedAt]));
  const earlier = Array.from({ length: CATCH_UP_DAYS }, (_, i) => addDays(today, -(i + 1)));
  return [today, ...earlier.filter((day) => isDue(day, counted.get(day), today))];
}

function isDue(day: string, countedAt: Date | undefined, today: string): boolean {
  if (!countedAt) return true;
  const countedOn = dayOf(countedAt);
  // If the last count was less than `OPEN_DAYS` days after the day, its deliveries may have changed since.
  return countedOn < today && countedOn < addDays(day, OPEN_DAYS);
}

/** Waiting votes by age, and for each queue the age of its oldest work in seconds. */
export type Waiting = { votes: Record<string, number>; queues: Record<string, number> };

type Range = { from: Date; to: Date };

/** Every sum reads an index in slices or counts keys, so a large site costs time and not memory. */
async function countSiteDay(
  deps: WorkflowsDeps,
  day: string,
  { waiting, throwIfLost }: { waiting: Waiting | undefined; throwIfLost: () => void },
): Promise<void> {
  const range = { from: startOfDay(day), to: after(startOfDay(day), DAY) };
  const deliveries = await countDeliveries(deps, day, { throwIfLost });
  const players = await countPlayers(deps, day, throwIfLost);
  const [servers, signUps, mails, storage] = await Promise.all([
    countServers(deps.servers, range),
    deps.users.countDocuments({ createdAt: { $gte: range.from, $lt: range.to } }),
    countMails(deps, range),
    waiting && measureStorage(deps.mongo.db),
  ]);
  throwIfLost();
  const known = { ...(players && { players }), ...(mails && { mails }), ...(storage && { storage }) };
  const counted = { servers, deliveries, signUps, ...known };
  const longest = Object.entries(waiting?.queues ?? {}).map(([name, age]) => [`queues.${name}`, age]);
  const now = { countedAt: deps.clock.now(), forgetAt: after(range.from, SITE_FIGURE_DAYS * DAY) };
  await deps.siteFigures.updateOne(
    { day },
    {
      $set: { ...counted, ...now, ...(waiting ? { waiting: waiting.votes } : {}) },
      ...(longest.length > 0 ? { $max: Object.fromEntries(longest) } : {}),
      $setOnInsert: { _id: new ObjectId() },
    },
    { upsert: true },
  );
}

/** These counts read only keys of indexes, no documents. */
async function countServers(
  servers: Collection<Server>,
  { from, to }: Range,
): Promise<SiteFigures['servers']> {
  const [everListed, everRemoved, added, removed] = await Promise.all([
    servers.countDocuments({ listedAt: { $lt: to } }),
    servers.countDocuments({ removedAt: { $type: 'date', $lt: to } }),
    servers.countDocuments({ listedAt: { $gte: from, $lt: to } }),
    servers.countDocuments({ removedAt: { $type: 'date', $gte: from, $lt: to } }),
  ]);
  return { listed: everListed - everRemoved, added, removed };
}

const SLICE = 500;

/** Of a finished day. If no probe found a server online, the server's own reports count. */
async function countPlayers(
  { servers, dailyStats, clock }: WorkflowsDeps,
  day: string,
  throwIfLost: () => void,
): Promise<SiteFigures['players']> {
  if (day >= dayOf(clock.now())) return undefined;
  const sum = { playerSeconds: 0, servers: 0 };
  let last: ObjectId | undefined;
  for (;;) {
    throwIfLost();
    const ids = await servers
      .find(last ? { _id: { $gt: last } } : {}, { sort: { _id: 1 }, limit: SLICE, projection: { _id: 1 } })
      .map(({ _id }) => _id)
      .toArray();
    last = ids.at(-1);
    if (!last) break;
    const [found] = await dailyStats.aggregate<typeof sum>(playersOf(ids, day)).toArray();
    sum.playerSeconds += found?.playerSeconds ?? 0;
    sum.servers += found?.servers ?? 0;
  }
  return sum.servers > 0 ? { average: sum.playerSeconds / 86_400, servers: sum.servers } : undefined;
}

function playersOf(serverIds: ObjectId[], day: string): object[] {
  const own = { $cond: [{ $gt: ['$probes.onlineSeconds', 0] }, '$probes', '$reports'] };
  return [
    { $match: { serverId: { $in: serverIds }, day } },
    { $project: { own } },
    {
      $group: {
        _id: null,
        playerSeconds: { $sum: '$own.playerSeconds' },
        servers: { $sum: { $cond: [{ $gt: ['$own.onlineSeconds', 0] }, 1, 0] } },
      },
    },
  ];
}

/** undefined if MongoDB may have deleted some of the records. */
async function countMails(
  { mails, clock }: WorkflowsDeps,
  { from, to }: Range,
): Promise<SiteFigures['mails']> {
  if (clock.now().getTime() - from.getTime() >= MAIL_TTL_MS) return undefined;
  const written = { createdAt: { $gte: from, $lt: to } };
  const isSet = (field: string) => ({ $sum: { $cond: [{ $gt: [field, null] }, 1, 0] } });
  const sums = { sent: isSet('$sentAt'), waiting: isSet('$nextAt'), givenUp: isSet('$givenUpAt') };
  const [found] = await mails
    .aggregate<NonNullable<SiteFigures['mails']>>([
      { $match: written },
      { $group: { _id: null, ...sums } },
      { $project: { _id: 0 } },
    ])
    .toArray();
  return found ?? { sent: 0, waiting: 0, givenUp: 0 };
}

async function measureStorage(db: Db): Promise<NonNullable<SiteFigures['storage']>> {
  const { storageSize, indexSize, objects } = await db.stats();
  return { dataBytes: Number(storageSize), indexBytes: Number(indexSize), documents: Number(objects) };
}
