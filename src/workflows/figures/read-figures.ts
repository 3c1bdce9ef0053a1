import { addDays, dayOf } from '../../platform/periods/period-marks.ts';
import type { WorkflowsDeps } from '../deps.ts';
import type { SiteFigures } from './site-figures.ts';

export type SiteDay = { day: string; figures: SiteFigures | null };

/** UTC days, the oldest first and today included. */
export async function figuresByDay({ siteFigures, clock }: WorkflowsDeps, days: number): Promise<SiteDay[]> {
  const today = dayOf(clock.now());
  const first = addDays(today, 1 - days);
  const stored = await siteFigures.find({ day: { $gte: first, $lte: today } }).toArray();
  const byDay = new Map(stored.map((figures) => [figures.day, figures]));
  return Array.from({ length: days }, (_, i) => {
    const day = addDays(first, i);
    return { day, figures: byDay.get(day) ?? null };
  });
}
