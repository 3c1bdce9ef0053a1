import type { HistoryPoint } from './history.ts';

type Slots = {
  /** In milliseconds; slots begin at whole multiples of it. */
  slotMs: number;
  /** An hour or a day, if a point represents at most that. By default a point lasts up to the next one. */
  stepMs?: number;
  /** The last point lasts until then, or for `stepMs` if that is shorter. */
  now: Date;
};

/**
 * Slots of equal length have the average over the time with data, and the highest peak. A slot without data has null
 * values and the reason of its longest part.
 */
export function inSlots(points: HistoryPoint[], { slotMs, stepMs = Infinity, now }: Slots): HistoryPoint[] {
  const [first] = points;
  if (!first) return [];
  const begin = Math.floor(first.at.getTime() / slotMs) * slotMs;
  const slots: Piece[][] = [];
  for (const [index, point] of points.entries()) {
    const from = point.at.getTime();
    const next = points[index + 1]?.at.getTime() ?? now.getTime();
    // If two samples have the same time: the first one counts for 1 ms.
    const until = Math.max(Math.min(next, from + stepMs), from + 1);
    while (begin + slots.length * slotMs < until) slots.push([]);
    for (let slot = Math.floor((from - begin) / slotMs); slot < slots.length; slot += 1) {
      const [start, end] = [begin + slot * slotMs, begin + (slot + 1) * slotMs];
      slots[slot]?.push({ point, ms: Math.min(until, end) - Math.max(from, start) });
    }
  }
  return slots.map((pieces, slot) => slotPoint(new Date(begin + slot * slotMs), pieces));
}

type Piece = { point: HistoryPoint; ms: number };

function slotPoint(at: Date, pieces: Piece[]): HistoryPoint {
  const known = pieces.filter(({ point }) => point.onlineShare !== null);
  const longest = (known.length > 0 ? known : pieces).toSorted((a, b) => b.ms - a.ms)[0]?.point;
  const peaks = known.flatMap(({ point }) => point.peakPlayers ?? []);
  return {
    at,
    source: longest?.source ?? null,
    averagePlayers: average(known, ({ averagePlayers }) => averagePlayers),
    peakPlayers: peaks.length > 0 ? Math.max(...peaks) : null,
    latencyMs: average(known, ({ latencyMs }) => latencyMs),
    onlineShare: average(known, ({ onlineShare }) => onlineShare),
    reason: known.length > 0 ? null : (longest?.reason ?? 'no-data'),
  };
}

/** Over the time with a known value; null if there is none. */
function average(pieces: Piece[], of: (point: HistoryPoint) => number | null): number | null {
  let [sum, time] = [0, 0];
  for (const { point, ms } of pieces) {
    const value = of(point);
    if (value === null) continue;
    sum += value * ms;
    time += ms;
  }
  return time > 0 ? sum / time : null;
}
