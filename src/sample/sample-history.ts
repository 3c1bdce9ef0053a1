import type { Collection, ObjectId } from 'mongodb';
import { type AuditEntry, recordAudit } from '../audit/audit-log.ts';
import { after, DAY, HOUR, MINUTE } from '../clock.ts';
import { countImported, type Importing, summarise } from '../moving/import.ts';
import { writeSamples } from '../moving/import-samples.ts';
import { type VoteRecord, writeVotes } from '../moving/import-votes.ts';
import { addDays, dayOf, startOf } from '../periods/period-marks.ts';
import type { StatusSample } from '../status/status-sample.ts';

/** The sample server's places for players. */
export const SAMPLE_MAX_PLAYERS = 100;

const HISTORY_DAYS = 30;
const SAMPLE_EVERY_MS = 5 * MINUTE;
const BATCH = 1_000;

/** Written once it is all there, so that another demo on the same data leaves it alone. */
const HISTORY_MARK = 'sample.history';

/**
 * Makes up 30 days of history for the sample server: samples, the figures of their days, and votes. The same
 * moment always has the same sample, so a demo that was stopped half-way is completed by the next one.
 *
 * @returns whether there was none yet
 */
export async function writeSampleHistory(
  deps: Importing & { auditLog: Collection<AuditEntry> },
  serverId: ObjectId,
): Promise<boolean> {
  if (await deps.auditLog.findOne({ serverId, action: HISTORY_MARK })) return false;
  const now = deps.clock.now();
  const first = startOf(addDays(dayOf(now), -HISTORY_DAYS));
  await deps.servers.updateOne({ _id: serverId }, { $min: { listedAt: first } });

  const samples = sampleTimes(first, now).map((at) => sampleAt(serverId, at));
  for (let start = 0; start < samples.length; start += BATCH)
    await writeSamples(deps, samples.slice(start, start + BATCH));
  const days = Array.from({ length: HISTORY_DAYS + 1 }, (_, day) => dayOf(after(first, day * DAY)));
  // A vote of the last moments would make counting wait until it must have been counted by itself.
  const settled = after(now, -MINUTE);
  const votes = days.flatMap((day) => votesOn(serverId, day)).filter(({ votedAt }) => votedAt <= settled);
  for (let start = 0; start < votes.length; start += BATCH)
    await writeVotes(deps, votes.slice(start, start + BATCH));

  await summarise(deps, [{ serverId, days }]);
  await countImported(deps, serverId, days);
  const details = { days: HISTORY_DAYS, samples: samples.length, votes: votes.length };
  await recordAudit(deps, { by: 'demo', action: HISTORY_MARK, serverId, details });
  return true;
}

function sampleTimes(first: Date, now: Date): Date[] {
  const count = Math.ceil((now.getTime() - first.getTime()) / SAMPLE_EVERY_MS);
  return Array.from({ length: count }, (_, index) => after(first, index * SAMPLE_EVERY_MS));
}

/** How many play at a moment: most in the evening, and never twice the same. */
export function samplePlayersAt(at: Date): number {
  const hour = (at.getTime() % DAY) / HOUR;
  const evening = (1 - Math.cos(((hour - 5) / 12) * Math.PI)) / 2;
  return Math.round(8 + 55 * evening + 12 * chance(at.getTime() / SAMPLE_EVERY_MS));
}

function sampleAt(serverId: ObjectId, at: Date): StatusSample {
  const online = !isAway(at);
  return {
    at,
    serverId,
    source: 'probe',
    seconds: SAMPLE_EVERY_MS / 1_000,
    status: online ? 'online' : 'offline',
    onlinePlayers: online ? samplePlayersAt(at) : 0,
    maxPlayers: SAMPLE_MAX_PLAYERS,
    latencyMs: online ? Math.round(180 + 120 * chance(at.getTime() / MINUTE)) / 10 : null,
  };
}

/** Every ninth day the sample server is away for 40 minutes of the night. */
function isAway(at: Date): boolean {
  const intoDay = at.getTime() % DAY;
  return Math.floor(at.getTime() / DAY) % 9 === 0 && intoDay >= 3 * HOUR && intoDay < 3 * HOUR + 40 * MINUTE;
}

const SAMPLE_PLAYERS = 60;

/** About half of the sample players vote on a day. */
function votesOn(serverId: ObjectId, day: string): VoteRecord[] {
  const start = startOf(day);
  const votes: VoteRecord[] = [];
  for (let player = 1; player <= SAMPLE_PLAYERS; player++) {
    const seed = start.getTime() / DAY + player * 1_000;
    if (chance(seed) < 0.5) continue;
    const votedAt = after(start, Math.floor(chance(seed + 0.5) * DAY));
    votes.push({ serverId, username: `SamplePlayer${player}`, votedAt });
  }
  return votes;
}

/** A number from 0 to 1 that looks drawn, and is the same for the same `seed`. */
function chance(seed: number): number {
  const wave = Math.sin(seed * 12.9898) * 43_758.5453;
  return wave - Math.floor(wave);
}
