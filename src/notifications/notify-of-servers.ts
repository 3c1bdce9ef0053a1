import { notificationTime } from '../events/event-text.ts';
import type { WithId } from 'mongodb';
import { statusAt } from '../history/current-status.ts';
import { after, DAY, HOUR, MINUTE } from '../platform/clock.ts';
import { hostAndPort } from '../platform/host-and-port.ts';
import type { Server } from '../servers/server.ts';
import { audienceOf } from './audience.ts';
import type { NotificationsDeps } from './deps.ts';
import { OFFLINE_FOR_MINUTES } from './kinds.ts';
import { eventOf, type NotificationText } from './notification-text.ts';
import { forServer, notify } from './notify.ts';
import type { ServerNotices } from './sent-notifications.ts';

/** If a server has been offline for longer, for example while no worker ran, its owner is not notified. */
const NEWLY_MS = DAY;
/** Servers whose status often changes are in one mail a day. */
const AT_MOST_EVERY_MS = DAY;

/** For servers that our probes found offline, or online again. */
export async function notifyOfServers(deps: NotificationsDeps, stop: AbortSignal): Promise<number> {
  const now = deps.clock.now();
  let written = 0;
  const offlineSince = { $gt: after(now, -NEWLY_MS), $lte: after(now, -OFFLINE_FOR_MINUTES * MINUTE) };
  for await (const server of deps.servers.find({ 'probe.offlineSince': offlineSince, removedAt: null })) {
    if (stop.aborted) return written;
    written += await forServer(deps, server._id, () => notifyOffline(deps, server, now));
  }
  for await (const { _id, since } of deps.serverNotices.find({ since: { $gt: new Date(0) } })) {
    if (stop.aborted) return written;
    if (since) written += await forServer(deps, _id, () => notifyOnline(deps, _id, since, now));
  }
  return written;
}

async function notifyOffline(deps: NotificationsDeps, server: WithId<Server>, now: Date): Promise<number> {
  const { _id, probe } = server;
  const since = probe.offlineSince;
  // Its reports may say that it is online, or no check is fresh.
  if (!since || statusAt(server, now) !== 'offline') return 0;
  const notices = await deps.serverNotices.findOne({ _id });
  if (notices && (notices.since || now < after(notices.offlineToldAt, AT_MOST_EVERY_MS))) return 0;
  const audience = await audienceOf(deps, _id);
  if (!audience) return 0;
  const result = await notify(deps, audience, 'server', offlineText(server, since));
  if (result === 'unwanted') return 0;
  await deps.serverNotices.updateOne({ _id }, { $set: { since, offlineToldAt: now } }, { upsert: true });
  return result === 'written' ? 1 : 0;
}

async function notifyOnline(
  deps: NotificationsDeps,
  _id: ServerNotices['_id'],
  since: Date,
  now: Date,
): Promise<number> {
  const server = await deps.servers.findOne({ _id, removedAt: null });
  if (!server) {
    await deps.serverNotices.deleteOne({ _id });
    return 0;
  }
  if (statusAt(server, now) !== 'online') return 0;
  const audience = await audienceOf(deps, _id);
  const result = audience && (await notify(deps, audience, 'server', onlineText(server, since, now)));
  await deps.serverNotices.updateOne({ _id, since }, { $set: { since: null } });
  return result === 'written' ? 1 : 0;
}

function offlineText({ _id, name, address, port }: WithId<Server>, since: Date): NotificationText {
  return {
    ...eventOf('offline', `${_id.toHexString()}:${since.getTime()}`),
    subject: 'the server is offline',
    paragraphs: [
      `${name} does not answer our queries at ${hostAndPort(address, port)} since ${notificationTime(since)}. Players see it as offline.`,
      'If it runs, check that its port is open and that the address is still right. The server’s page:',
    ],
    part: '',
  };
}

function onlineText({ _id, name }: WithId<Server>, since: Date, now: Date): NotificationText {
  return {
    ...eventOf('online', `${_id.toHexString()}:${since.getTime()}`),
    subject: 'the server is online again',
    paragraphs: [
      `${name} answers our queries again. It was offline since ${notificationTime(since)}, for ${lasting(now.getTime() - since.getTime())}.`,
      'The server’s page:',
    ],
    part: '',
  };
}

function lasting(ms: number): string {
  const units = [
    [DAY, 'day'],
    [HOUR, 'hour'],
    [MINUTE, 'minute'],
  ] as const;
  const [size, unit] = units.find(([size]) => ms >= 2 * size) ?? units[2];
  const number = Math.max(1, Math.round(ms / size));
  return `${number} ${unit}${number === 1 ? '' : 's'}`;
}
