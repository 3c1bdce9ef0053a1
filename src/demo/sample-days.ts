import type { ObjectId } from 'mongodb';
import type { StatusSample } from '../history/status-sample.ts';
import { after, DAY, HOUR, MINUTE } from '../platform/clock.ts';
import { addDays, dayOf, startOfDay } from '../platform/periods/period-marks.ts';
import { chance, samplePlayer } from './sample-players.ts';
import type { Sample } from './samples.ts';

export type ListedSample = { serverId: ObjectId; sample: Sample };

/** The same name gives the same data. */
export function seedOf({ name }: Sample): number {
  return [...name].reduce((sum, letter) => (sum * 31 + (letter.codePointAt(0) ?? 0)) % 10_007, 7);
}

/** By how many hours a country's clock is ahead of UTC, about. */
const HOURS_AHEAD: Record<string, number> = { US: -6, CA: -5, BR: -3, IE: 0, PT: 0, GB: 0, FI: 2, TR: 3 };
const FURTHER_EAST: Record<string, number> = { SA: 3, IN: 5.5, PH: 8, JP: 9, KR: 9, AU: 10 };
const ELSEWHERE = 1;

/** How many players are online at a time: most of them in the evening and at the weekend. */
export function samplePlayersAt(sample: Sample, at: Date): number {
  const { slots, busy } = sample.activity;
  const seed = seedOf(sample);
  const hour = (at.getTime() % DAY) / HOUR + hoursAhead(sample);
  const evening = ((1 + Math.cos(((hour - 20.5) / 12) * Math.PI)) / 2) ** 1.4;
  const noise = 0.93 + 0.14 * chance(seed + Math.floor(at.getTime() / (5 * MINUTE)) / 7);
  const online = slots * busy * (0.12 + 0.8 * evening) * crowding(seed, at) * noise;
  return Math.min(slots, Math.round(online));
}

function hoursAhead({ countryCode }: Sample): number {
  return HOURS_AHEAD[countryCode] ?? FURTHER_EAST[countryCode] ?? ELSEWHERE;
}

function crowding(seed: number, at: Date): number {
  const wave = (days: number, phase: number) => Math.sin(2 * Math.PI * (at.getTime() / DAY / days + phase));
  const weekend = [0, 6].includes(at.getUTCDay()) ? 1.12 : 1;
  const weeks = 0.16 * wave(20 + 30 * chance(seed), chance(seed + 0.5));
  const days = 0.16 * wave(3 + 5 * chance(seed + 0.2), chance(seed + 0.7));
  return (1 + weeks + days) * weekend;
}

/** In the made-up history, our own network was down this many days ago: all probed servers were unknown. */
const GREY_DAY = 11;

const GONE_DAYS = 4;

/** The status is unknown for this long before it is offline: three checks must fail. */
const UNCONFIRMED_MS = 10 * MINUTE;

/** In milliseconds; 0 while it is online. */
function awayFor(sample: Sample, at: Date, now: Date): number {
  const gone = startOfDay(addDays(dayOf(now), -GONE_DAYS));
  if (sample.kind === 'gone' && at >= gone) return 1 + at.getTime() - gone.getTime();
  const day = Math.floor(at.getTime() / DAY);
  const seed = seedOf(sample) + day / 3;
  if (chance(seed) > 0.16 * chance(seedOf(sample))) return 0;
  const began = day * DAY + Math.floor(chance(seed + 1) * 20) * HOUR;
  const lasted = (25 + 200 * chance(seed + 2) ** 3) * MINUTE;
  const away = 1 + at.getTime() - began;
  return away > 0 && away <= lasted ? away : 0;
}

/** 15 minutes for older days, 5 minutes for today and the two days before. */
const COARSE_MS = 15 * MINUTE;
const FINE_MS = 5 * MINUTE;
const FINE_DAYS = 2;

export function samplesOf({ serverId, sample }: ListedSample, from: Date, now: Date): StatusSample[] {
  const fineFrom = startOfDay(addDays(dayOf(now), -FINE_DAYS));
  const samples: StatusSample[] = [];
  for (let at = from; at < now; at = after(at, at < fineFrom ? COARSE_MS : FINE_MS)) {
    const seconds = (at < fineFrom ? COARSE_MS : FINE_MS) / 1_000;
    const found = sampleAt(sample, at, now);
    if (found) samples.push({ at, serverId, ...found, seconds: found.source === 'report' ? 0 : seconds });
  }
  return samples;
}

function sampleAt(
  sample: Sample,
  at: Date,
  now: Date,
): Omit<StatusSample, 'at' | 'serverId' | 'seconds'> | null {
  const source = sample.kind === 'reporting' ? 'report' : 'probe';
  const empty = { source, onlinePlayers: 0, maxPlayers: 0, latencyMs: null } as const;
  const away = awayFor(sample, at, now);
  if (source === 'report' && away > 0) return null;
  if (source === 'probe' && dayOf(at) === addDays(dayOf(now), -GREY_DAY))
    return { ...empty, status: 'unknown', reason: 'canary' };
  if (away > UNCONFIRMED_MS) return { ...empty, status: 'offline' };
  if (away > 0) return { ...empty, status: 'unknown', reason: 'unconfirmed' };
  return {
    source,
    status: 'online',
    onlinePlayers: samplePlayersAt(sample, at),
    maxPlayers: sample.activity.slots,
    latencyMs: sampleLatencyAt(sample, at),
  };
}

/** In milliseconds. Probed servers run on this machine: real probes measure about as much, so the chart has no jump. */
export function sampleLatencyAt(sample: Sample, at: Date): number {
  const varying = chance(seedOf(sample) + at.getTime() / MINUTE) ** 4;
  if (sample.kind === 'probed') return Math.round(1 + 2 * varying);
  return Math.round(10 * (15 + 60 * chance(seedOf(sample)) + 15 * varying)) / 10;
}

export function playerOf(sample: Sample, number: number): string {
  return samplePlayer(seedOf(sample), number % (2 * sample.activity.votes));
}

/** A vote before it has a number and a delivery. */
export type CastSample = { username: string; votedAt: Date };

/** Each player votes at about the same hour every day; some vote less often. */
export function votesOn(sample: Sample, day: string): CastSample[] {
  const start = startOfDay(day);
  const seed = seedOf(sample);
  const shown = crowding(seed, start) * (0.8 + 0.4 * chance(seed + start.getTime() / DAY));
  const players = 2 * sample.activity.votes;
  return Array.from({ length: players }, (_, player) => {
    const drawn = seed + start.getTime() / DAY + player * 1_000;
    const keen = 0.1 + 0.8 * (1 - player / players);
    if (chance(drawn) > keen * shown) return [];
    const habit = (0.35 + 0.6 * chance(seed + player)) * DAY;
    const votedAt = after(start, Math.floor(habit + chance(drawn + 0.5) * HOUR));
    return [{ username: samplePlayer(seed, player), votedAt }];
  }).flat();
}
