/**
 * Votes by the time that they took to arrive: bucket n counts times above `RATIO`^(n - 1) ms and up to `RATIO`^n ms.
 * Buckets of several days or servers can be added; percentiles cannot.
 */
export type ArrivalTimes = Record<string, number>;

/** With 1.1, a percentile is at most 5 % wrong. */
export const RATIO = 1.1;

/** As an aggregation expression of one. */
export function bucketOf(ms: object): object {
  return { $toInt: { $ceil: { $divide: [{ $ln: { $max: [1, ms] } }, Math.log(RATIO)] } } };
}

export function addTimes(sum: ArrivalTimes, times: ArrivalTimes): void {
  for (const [bucket, votes] of Object.entries(times)) sum[bucket] = (sum[bucket] ?? 0) + votes;
}

/** The ms within which `share` of the votes (0.5: the median) arrived. */
export function percentile(times: ArrivalTimes, share: number): number | null {
  const buckets = Object.entries(times).map(([bucket, votes]) => [Number(bucket), votes] as const);
  const wanted = share * buckets.reduce((sum, [, votes]) => sum + votes, 0);
  let reached = 0;
  for (const [bucket, votes] of buckets.toSorted(([a], [b]) => a - b)) {
    reached += votes;
    if (votes > 0 && reached >= wanted) return Math.round(RATIO ** (bucket - 0.5));
  }
  return null;
}
