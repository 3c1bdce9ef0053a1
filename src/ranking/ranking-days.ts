import { addDays } from '../platform/periods/period-marks.ts';
import { RANKING_DAYS } from '../votes/ranking-period.ts';

/** The UTC days whose votes count, oldest first: `lastDay` and the 29 before. */
export function rankingDays(lastDay: string): string[] {
  return Array.from({ length: RANKING_DAYS }, (_, i) => addDays(lastDay, i - RANKING_DAYS + 1));
}
