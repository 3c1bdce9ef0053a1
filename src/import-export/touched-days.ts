import { ObjectId } from 'mongodb';
import { dayOf } from '../platform/periods/period-marks.ts';

/** Days whose figures must be computed again. */
type TouchedDays = {
  add(serverId: ObjectId, at: Date): void;
  /** So many that the caller must process them now. This limits the memory. */
  isFull(): boolean;
  take(): { serverId: ObjectId; days: string[] }[];
};

/** Each takes about a hundred bytes. */
const MOST_DAYS = 20_000;

export function touchedDays(): TouchedDays {
  let servers = new Map<string, Set<string>>();
  let count = 0;
  return {
    add(serverId, at) {
      const key = serverId.toHexString();
      const days = servers.get(key) ?? new Set();
      servers.set(key, days);
      const before = days.size;
      days.add(dayOf(at));
      count += days.size - before;
    },
    isFull: () => count >= MOST_DAYS,
    take() {
      const taken = [...servers].map(([key, days]) => ({ serverId: new ObjectId(key), days: [...days] }));
      servers = new Map();
      count = 0;
      return taken;
    },
  };
}
