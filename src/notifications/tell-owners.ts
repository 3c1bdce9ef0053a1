import type { Collection } from 'mongodb';
import type { Person } from '../accounts/person.ts';
import type { Listener } from '../listeners/listener.ts';
import { type Outbox, putMail } from '../mail/outbox.ts';
import type { Config } from '../platform/config.ts';
import type { Logger } from '../platform/log.ts';
import type { Server } from '../servers/server.ts';
import type { Vote } from '../votes/vote.ts';
import { countFate } from './fate.ts';
import type { ListenerNotices } from './listener-notices.ts';
import { noticeText } from './notice-text.ts';
import type { Notification } from './notification.ts';
import { type Occasion, occasionsOf, outageSince } from './occasions.ts';

/** What telling owners works on. */
type Telling = Outbox & {
  servers: Collection<Server>;
  listeners: Collection<Listener>;
  votes: Collection<Vote>;
  people: Collection<Person>;
  listenerNotices: Collection<ListenerNotices>;
  config: Pick<Config, 'PUBLIC_URL' | 'SERVICE_NAME'>;
  log: Logger;
};

/**
 * Writes the mails that owners are to get of their listeners: paused for a fault of configuration, unreachable
 * for an hour, votes about to be given up, back again. Each occasion gives one mail, also when this runs twice
 * at once or is killed half-way: the mail goes into the outbox under an id made of the occasion, and only then
 * it is noted as told.
 *
 * @returns how many mails were written
 */
export async function tellOwners(deps: Telling, stop: AbortSignal): Promise<number> {
  let written = 0;
  const down = {
    $or: [
      { 'pause.at': { $exists: true } },
      { 'breaker.openSince': { $exists: true } },
      { 'limited.until': { $exists: true } },
    ],
  };
  for await (const listener of deps.listeners.find(down)) {
    if (stop.aborted) return written;
    written += await tellOf(deps, listener, await deps.listenerNotices.findOne({ _id: listener._id }));
  }
  for await (const told of deps.listenerNotices.find({ since: { $gt: new Date(0) } })) {
    if (stop.aborted) return written;
    const listener = await deps.listeners.findOne({ serverId: told.serverId, _id: told._id });
    // Of a listener that is gone nothing is to be told any more.
    if (!listener) await deps.listenerNotices.deleteOne({ _id: told._id });
    else if (!outageSince(listener)) written += await tellOf(deps, listener, told);
  }
  return written;
}

/** Tells what is to be told of one listener. One that fails holds up no other. */
async function tellOf(deps: Telling, listener: Listener, told: ListenerNotices | null): Promise<number> {
  try {
    const found = await findOwner(deps, listener);
    if (!found) return 0;
    const { serverId } = listener;
    const oldest = await deps.votes.findOne(
      { serverId, 'delivery.state': 'waiting' },
      { sort: { votedAt: 1 }, projection: { votedAt: 1, 'delivery.expiresAt': 1 } },
    );
    const backAt = told?.since ? await noteStanding(deps, listener, told) : null;
    const seen = {
      listener,
      told: told && { ...told, backAt },
      expiresAt: oldest?.delivery.expiresAt ?? null,
      isDraining: oldest !== null && (!backAt || oldest.votedAt < backAt),
    };
    let written = 0;
    for (const occasion of occasionsOf(seen, deps.clock.now())) {
      const fate = await countFate(deps, serverId, occasion.since);
      const details = { listener, ...found, fate, expiresAt: seen.expiresAt };
      if (await tell(deps, details, occasion)) written += 1;
      await noteTold(deps, listener, occasion, told?.since ?? occasion.since);
    }
    return written;
  } catch (error) {
    deps.log.warn({
      event: 'notices.failed',
      serverId: listener.serverId.toHexString(),
      reason: String(error),
    });
    return 0;
  }
}

/** The server, and its owner if mail may be sent there. */
async function findOwner({ servers, people }: Telling, { serverId }: Listener) {
  const server = await servers.findOne({ _id: serverId, removedAt: null });
  if (!server?.ownerId) return null;
  const owner = await people.findOne({ _id: server.ownerId });
  // An address that nobody confirmed may be a stranger's.
  if (!owner?.emailVerified || !owner.wantsMail || owner.suspendedAt) return null;
  return { server, owner };
}

/** Notes since when the listener works again, or that it does not. */
async function noteStanding(
  { listenerNotices, clock }: Telling,
  listener: Listener,
  { backAt }: ListenerNotices,
): Promise<Date | null> {
  const works = outageSince(listener) === null;
  if (works === Boolean(backAt)) return backAt ?? null;
  const noted = works ? clock.now() : null;
  await listenerNotices.updateOne({ _id: listener._id }, { $set: { backAt: noted } });
  return noted;
}

/** Writes one mail, unless it was written before. */
function tell(deps: Telling, told: Notification, { kind, since }: Occasion): Promise<boolean> {
  const id = `${kind}:${told.listener._id.toHexString()}:${since.getTime()}`;
  const letter = noticeText(deps.config, told, { kind, since });
  return putMail(deps, { id, to: told.owner.email, ...letter });
}

/** Notes that an occasion was told. `outage`: since when the outage lasts whose end is to be told. */
async function noteTold(
  { listenerNotices, clock }: Telling,
  { _id, serverId }: Listener,
  { kind, since }: Occasion,
  outage: Date,
): Promise<void> {
  const now = clock.now();
  if (kind === 'returned') {
    await listenerNotices.updateOne({ _id, since }, { $set: { since: null, backAt: null } });
    return;
  }
  const told = {
    paused: { pauseTold: since, since: outage, backAt: null },
    unreachable: { unreachableTold: since, unreachableMailAt: now, since: outage, backAt: null },
    expiring: { expiringTold: since, expiringMailAt: now },
  }[kind];
  await listenerNotices.updateOne({ _id }, { $set: { serverId, ...told } }, { upsert: true });
}
