import type { WithId } from 'mongodb';
import { durationText, notificationTime } from '../events/event-text.ts';
import { OFFLINE_FOR_MINUTES } from '../events/kinds.ts';
import { serversWanting } from '../events/store-events.ts';
import { statusAt } from '../history/current-status.ts';
import { t } from '../language/t.ts';
import { after, DAY, MINUTE, SECOND } from '../platform/clock.ts';
import { hostAndPort } from '../platform/host-and-port.ts';
import { pauseAt } from '../servers/listing-pause.ts';
import { secondOf } from '../servers/second-address.ts';
import type { Server } from '../servers/server.ts';
import { audienceOf, CHANNELS, isWanted } from './audience.ts';
import type { NotificationsDeps } from './deps.ts';
import type { Notification } from './notification-text.ts';
import { forServer, notifyBy } from './notify.ts';
import type { ServerNotices } from './sent-notifications.ts';

/** If a server has been offline for longer, for example while no worker ran, its owner is not notified. */
const NEWLY_MS = DAY;
/** Of mails: servers whose status often changes are in one a day. */
const AT_MOST_EVERY_MS = DAY;

/** For servers that our probes found offline, or online again. */
export async function notifyOfServers(deps: NotificationsDeps, stop: AbortSignal): Promise<number> {
  const now = deps.clock.now();
  let written = 0;
  const subscribed = await serversWanting(deps, 'server.offline');
  const offlineSince = { $gt: after(now, -NEWLY_MS), $lte: after(now, -OFFLINE_FOR_MINUTES * MINUTE) };
  for await (const server of deps.servers.find({ 'probe.offlineSince': offlineSince, removedAt: null })) {
    if (stop.aborted) return written;
    written += await forServer(deps, server._id, () => notifyOffline(deps, server, subscribed, now));
  }
  const offline = { $gt: new Date(0) };
  const notices = deps.serverNotices.find({ $or: [{ since: offline }, { eventSince: offline }] });
  for await (const sent of notices) {
    if (stop.aborted) return written;
    written += await forServer(deps, sent._id, () => notifyOnline(deps, sent, now));
  }
  return written;
}

/** By channel, the field with the start of the time offline of its last notification. */
const SINCE = { mail: 'since', events: 'eventSince' } as const;

async function notifyOffline(
  deps: NotificationsDeps,
  server: WithId<Server>,
  subscribed: ReadonlySet<string>,
  now: Date,
): Promise<number> {
  const { _id, probe } = server;
  const since = probe.offlineSince;
  // Its reports may say that it is online, or no check is fresh.
  if (!since || statusAt(server, now) !== 'offline') return 0;
  const notices = await deps.serverNotices.findOne({ _id });
  const toldAt = notices?.offlineToldAt;
  const isMailed = notices?.since || (toldAt && now < after(toldAt, AT_MOST_EVERY_MS));
  const isStored = !subscribed.has(_id.toHexString()) || notices?.eventSince?.getTime() === since.getTime();
  const due = [isMailed ? [] : ('mail' as const), isStored ? [] : ('events' as const)].flat();
  const audience = due.length > 0 ? await audienceOf(deps, _id) : null;
  if (!audience) return 0;
  let written = 0;
  for (const channel of due) {
    if (!isWanted(audience, channel, 'offline')) continue;
    if (await notifyBy(channel, deps, audience, offlineNotification(server, since))) written += 1;
    const told = { [SINCE[channel]]: since, ...(channel === 'mail' ? { offlineToldAt: now } : {}) };
    await deps.serverNotices.updateOne({ _id }, { $set: told }, { upsert: true });
  }
  return written;
}

async function notifyOnline(deps: NotificationsDeps, sent: ServerNotices, now: Date): Promise<number> {
  const { _id } = sent;
  const server = await deps.servers.findOne({ _id, removedAt: null });
  if (!server) {
    await deps.serverNotices.deleteOne({ _id });
    return 0;
  }
  // A pause does not begin while the server is offline: it was online again before.
  const pause = pauseAt(server, now);
  if (!pause && statusAt(server, now) !== 'online') return 0;
  const audience = await audienceOf(deps, _id);
  let written = 0;
  for (const channel of CHANNELS) {
    const field = SINCE[channel];
    const since = sent[field];
    if (!since) continue;
    const notification = onlineNotification(server, since, pause?.at ?? now);
    if (audience && (await notifyBy(channel, deps, audience, notification))) written += 1;
    await deps.serverNotices.updateOne({ _id, [field]: since }, { $set: { [field]: null } });
  }
  return written;
}

function offlineNotification(server: WithId<Server>, since: Date): Notification {
  const { _id, name, address, port } = server;
  const second = secondOf(server);
  const places = [{ address, port }, ...(second ? [second] : [])].map((at) =>
    hostAndPort(at.address, at.port),
  );
  const mail = () => ({
    subject: t('the server is offline'),
    paragraphs: [
      t('{name} does not answer our queries at {places} since {time}. Players see it as offline.', {
        name,
        places: places.join(', '),
        time: notificationTime(since),
      }),
      t('If it runs, check that its port is open and that the address is still right. The server’s page:'),
    ],
    part: '',
  });
  return { name: 'offline', ...about(_id, since), mail, data: { since: since.toISOString() } };
}

function onlineNotification({ _id, name }: WithId<Server>, since: Date, now: Date): Notification {
  const offlineMs = now.getTime() - since.getTime();
  const mail = () => ({
    subject: t('the server is online again'),
    paragraphs: [
      t('{name} answers our queries again. It was offline since {time}, for {duration}.', {
        name,
        time: notificationTime(since),
        duration: durationText(offlineMs),
      }),
      t('The server’s page:'),
    ],
    part: '',
  });
  const data = { since: since.toISOString(), offline_seconds: Math.round(offlineMs / SECOND) };
  return { name: 'online', ...about(_id, since), mail, data };
}

function about(serverId: ServerNotices['_id'], since: Date): Pick<Notification, 'about'> {
  return { about: `${serverId.toHexString()}:${since.getTime()}` };
}
