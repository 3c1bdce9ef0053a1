import type { ObjectId, WithId } from 'mongodb';
import { z } from 'zod';
import { isProbed } from '../games/games.ts';
import { REPORT_VALID_MS, sourceAt, statusAt } from '../history/current-status.ts';
import { t } from '../language/t.ts';
import { recordAudit } from '../platform/audit/audit-log.ts';
import { after, type Clock, DAY } from '../platform/clock.ts';
import { parseInput } from '../platform/input.ts';
import { mayConnectFor } from '../platform/limits/outgoing-limit.ts';
import { DURABLE } from '../platform/mongo.ts';
import { shownText } from '../platform/text.ts';
import type { Ask, ProbeFailure } from '../probing/ask.ts';
import { askAddresses } from '../probing/check-addresses.ts';
import { probeReset } from '../servers/listed-servers.ts';
import {
  type ListingPause,
  LONGEST_PAUSE_MS,
  LONGEST_PAUSE_TEXT,
  NEVER_PROBED,
  nextPauseAt,
  PAUSE_KEPT_MS,
  pauseAt,
} from '../servers/listing-pause.ts';
import { requestRanks } from '../servers/request-ranks.ts';
import type { Server } from '../servers/server.ts';
import type { WorkflowsDeps } from './deps.ts';

/** An empty text counts as none. */
export type PauseInput = { until?: Date | undefined; text?: string | undefined };

/**
 * `offline`: its downtime counts. `not-known`: the last check failed or none was made since an edit or a pause, or the
 * reports stopped. `too-many`: `MOST_PAUSES` began in the last `PAUSE_DAYS`.
 */
export type PauseRefusal =
  | { kind: 'offline' }
  | { kind: 'not-known' }
  | { kind: 'not-listed' }
  | { kind: 'too-many'; nextAt: Date };

/** `isNew`: it began now; otherwise only its date or sentence changed. */
export type Paused = { kind: 'paused'; pause: ListingPause; isNew: boolean };

/** Whether a pause may begin now; null if it may. */
export function whyNotPaused(
  { config, clock }: Pick<WorkflowsDeps, 'config' | 'clock'>,
  server: Server,
): Exclude<PauseRefusal, { kind: 'not-listed' }> | null {
  const now = clock.now();
  const nextAt = nextPauseAt(server, now);
  if (nextAt > now) return { kind: 'too-many', nextAt };
  const { probe, lastReport, game } = server;
  if (sourceAt(server, now) === 'reports') {
    const isSilent = !lastReport || after(lastReport.at, REPORT_VALID_MS) <= now;
    return isSilent ? { kind: 'not-known' } : null;
  }
  // Without checks, no downtime is counted.
  if (config.PROBES === 'off' || !probe.checkedAt) return null;
  if (probe.offlineSince) return { kind: 'offline' };
  // Without its game it is not probed any more: an owner may have just removed that in an outage.
  if (!isProbed(game)) return probe.checkedAt > after(now, -DAY) ? { kind: 'not-known' } : null;
  // An edit makes the status unknown until the next check: it must not hide an outage from this rule.
  return statusAt(server, now) === 'online' && probe.failures === 0 ? null : { kind: 'not-known' };
}

function pauseSchema(clock: Clock) {
  const untilRule = () =>
    t('must be later than now, and at most {days} days away', { days: LONGEST_PAUSE_MS / DAY });
  return z.object({
    dateOfReturn: z
      .date({ error: untilRule })
      .refine((at) => at > clock.now() && at <= after(clock.now(), LONGEST_PAUSE_MS), { error: untilRule })
      .optional(),
    text: z.preprocess(
      (value) => (typeof value === 'string' && value.trim() === '' ? undefined : value),
      shownText(LONGEST_PAUSE_TEXT).optional(),
    ),
  });
}

/**
 * Begins a pause now, or changes the date and the sentence of the present one. Of two at once, one begins the pause and
 * the other changes it. Every check or edit in between is seen, because it increments the revision of the probe state.
 *
 * @throws {InvalidDocumentError} for a wrong date or sentence
 */
export async function pauseListing(
  deps: WorkflowsDeps,
  serverId: ObjectId,
  input: PauseInput,
  by: string,
): Promise<Paused | PauseRefusal> {
  const read = { dateOfReturn: input.until, text: input.text };
  const { dateOfReturn: until, text } = parseInput(pauseSchema(deps.clock), read);
  const given = { ...(until ? { until } : {}), ...(text ? { text } : {}) };
  for (;;) {
    const server = await deps.servers.findOne({ _id: serverId, removedAt: null });
    if (!server) return { kind: 'not-listed' };
    const { listingPause } = server;
    // Its date has come, and no worker has ended it yet.
    if (listingPause && !pauseAt(server, deps.clock.now())) {
      await endPause(deps, server, listingPause, BY_DATE);
      continue;
    }
    if (!listingPause) {
      const refusal = whyNotPaused(deps, server);
      if (refusal) return refusal;
    }
    const pause = { at: listingPause?.at ?? deps.clock.now(), ...given };
    if (!(await storePause(deps, server, pause))) continue;
    const details = { until: until?.toISOString() ?? null, text: text ?? null };
    const isNew = !listingPause;
    if (isNew) await afterChange(deps, serverId);
    await recordAudit(deps, { by, action: isNew ? 'pause.begin' : 'pause.change', serverId, details });
    return { kind: 'paused', pause, isNew };
  }
}

/** False if the server was checked, edited, paused or resumed since it was read. A probe under way is void. */
async function storePause(
  deps: WorkflowsDeps,
  server: WithId<Server>,
  pause: ListingPause,
): Promise<boolean> {
  const { _id, probe, listingPause } = server;
  const { matchedCount } = await deps.servers.updateOne(
    {
      _id,
      removedAt: null,
      ...(listingPause
        ? samePause(listingPause)
        : { listingPause: { $exists: false }, 'probe.revision': probe.revision }),
    },
    {
      $set: {
        listingPause: pause,
        ...(listingPause ? {} : { 'probe.claim': null, 'probe.urgent': false, 'probe.nextAt': NEVER_PROBED }),
      },
      ...(listingPause ? {} : { $inc: { 'probe.revision': 1 } }),
    },
    { writeConcern: DURABLE },
  );
  return matchedCount > 0;
}

function samePause({ at, until }: ListingPause) {
  return { 'listingPause.at': at, 'listingPause.until': until ?? { $exists: false } };
}

/** In the audit log: no user ended it. */
const BY_DATE = 'tallyport';

/** Null if the listing is not paused, or no such server is listed. */
export async function resumeListing(
  deps: WorkflowsDeps,
  serverId: ObjectId,
  by: string,
): Promise<ListingPause | null> {
  for (;;) {
    const server = await deps.servers.findOne({ _id: serverId, removedAt: null });
    if (!server?.listingPause) return null;
    const { listingPause } = server;
    const isOver = !pauseAt(server, deps.clock.now());
    if (await endPause(deps, server, listingPause, isOver ? BY_DATE : by))
      return isOver ? null : listingPause;
  }
}

/**
 * One update; false if the pause was changed or ended meanwhile. The server is due for a probe at once, and its status
 * is unknown until then (`statusAt`).
 */
async function endPause(
  deps: WorkflowsDeps,
  { _id, game }: WithId<Server>,
  pause: ListingPause,
  by: string,
): Promise<boolean> {
  const now = deps.clock.now();
  const until = pause.until && pause.until < now ? pause.until : now;
  const reset = probeReset(game, now);
  const ended = await deps.servers.findOneAndUpdate(
    { _id, ...samePause(pause) },
    {
      $set: { ...reset.$set, 'probe.scheduledAt': now },
      $inc: reset.$inc,
      $unset: { listingPause: '' },
      $push: { earlierPauses: { from: pause.at, until } },
    },
    { writeConcern: DURABLE, returnDocument: 'after', projection: { earlierPauses: 1 } },
  );
  if (!ended) return false;
  await deps.servers.updateOne(
    { _id },
    { $pull: { earlierPauses: { until: { $lt: after(now, -PAUSE_KEPT_MS) } } } },
  );
  await afterChange(deps, _id);
  const details = { from: pause.at.toISOString(), until: until.toISOString() };
  await recordAudit(deps, { by, action: 'pause.end', serverId: _id, details });
  return true;
}

/** Other processes take votes, or refuse them, until their caches have expired (`AUTHENTICATION_TTL_MS`). */
async function afterChange({ authentications, producer }: WorkflowsDeps, serverId: ObjectId): Promise<void> {
  authentications.forget((one) => one.serverId.equals(serverId));
  await requestRanks(producer);
}

/** Of listed servers whose date of return has come. */
export async function duePauses({ servers, clock }: WorkflowsDeps): Promise<ObjectId[]> {
  const due = { 'listingPause.until': { $lte: clock.now() }, removedAt: null };
  return servers
    .find(due, { projection: { _id: 1 } })
    .map(({ _id }) => _id)
    .toArray();
}

/** Ends the pause if its date has come. Another run, or an owner who changed the date, makes it do nothing. */
export async function resumeDueListing(deps: WorkflowsDeps, serverId: ObjectId): Promise<boolean> {
  const server = await deps.servers.findOne({ _id: serverId, removedAt: null });
  if (!server?.listingPause || pauseAt(server, deps.clock.now())) return false;
  return endPause(deps, server, server.listingPause, BY_DATE);
}

export type PauseCheck =
  | { kind: 'resumed' | 'not-paused' | 'no-game' | 'limited' | 'stopped' }
  | { kind: 'no-answer'; failure: ProbeFailure };

/** Queries the game server of a paused listing, at both addresses if it has two, and ends the pause if it answers. */
export async function checkPausedServer(
  deps: WorkflowsDeps & { ask: Ask },
  serverId: ObjectId,
  by: string,
  signal?: AbortSignal,
): Promise<PauseCheck> {
  const server = await deps.servers.findOne({ _id: serverId, removedAt: null });
  if (!server?.listingPause || !pauseAt(server, deps.clock.now())) return { kind: 'not-paused' };
  const { game, ownerId } = server;
  if (!game || !isProbed(game)) return { kind: 'no-game' };
  const mayConnect = (_: unknown, port: number) => mayConnectFor(deps, ownerId?.toHexString() ?? null, port);
  const options = { byHand: true, mayConnect, signal };
  const { probe } = await askAddresses(deps.ask, { ...server, game }, options, deps.clock.now());
  if (probe.ok) return { kind: (await resumeListing(deps, serverId, by)) ? 'resumed' : 'not-paused' };
  if (probe.failure === 'outgoing-limited') return { kind: 'limited' };
  return { kind: 'no-answer', failure: probe.failure };
}
