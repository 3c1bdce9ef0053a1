/** A straight line through measurements: its slope, and the standard error of the slope. */
export type Trend = { slope: number; error: number };

/**
 * The least-squares line through `values`, measured at `times`. The standard error assumes independent deviations.
 *
 * @returns the slope in units of `values` per unit of `times`; NaN with fewer than three measurements
 */
export function trendOf(times: number[], values: number[]): Trend {
  const count = times.length;
  if (count < 3) return { slope: Number.NaN, error: Number.NaN };
  const mean = (all: number[]) => all.reduce((sum, one) => sum + one, 0) / count;
  const [meanTime, meanValue] = [mean(times), mean(values)];
  const spread = times.reduce((sum, time) => sum + (time - meanTime) ** 2, 0);
  const together = times.reduce(
    (sum, time, i) => sum + (time - meanTime) * ((values[i] ?? 0) - meanValue),
    0,
  );
  const slope = together / spread;
  const rest = times.reduce((sum, time, i) => {
    return sum + ((values[i] ?? 0) - meanValue - slope * (time - meanTime)) ** 2;
  }, 0);
  return { slope, error: Math.sqrt(rest / (count - 2) / spread) };
}
