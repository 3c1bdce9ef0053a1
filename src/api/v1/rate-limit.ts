import { type Clock, SECOND } from '../../platform/clock.ts';

/** Seconds until `at`, rounded up; never negative. */
export function secondsUntil(at: Date, clock: Clock): number {
  return Math.max(0, Math.ceil((at.getTime() - clock.now().getTime()) / SECOND));
}

/**
 * The headers `RateLimit-Policy` and `RateLimit` of a limit of one request in `windowMs`, used up until `nextAt`
 * (draft-ietf-httpapi-ratelimit-headers-10).
 */
export function rateLimitHeaders(
  name: string,
  windowMs: number,
  nextAt: Date,
  clock: Clock,
): Record<string, string> {
  return {
    'ratelimit-policy': `"${name}";q=1;w=${windowMs / SECOND}`,
    ratelimit: `"${name}";r=0;t=${secondsUntil(nextAt, clock)}`,
  };
}
