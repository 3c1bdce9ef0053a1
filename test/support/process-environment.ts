import { SECOND } from '../../src/platform/clock.ts';
import type { ConnectedConfig } from '../../src/platform/config.ts';

/** The environment variables for `config`. */
export function environmentOf(config: ConnectedConfig): Record<string, string> {
  const {
    basePath: _,
    ALLOWED_PRIVATE_RANGES,
    CANARY_ADDRESSES,
    DELIVERY_SCHEDULE,
    BREAKER_SCHEDULE,
    FOOTER_LINKS,
    ...rest
  } = config;
  const plain = Object.entries(rest).filter(([, value]) => value !== undefined);
  return {
    ...Object.fromEntries(plain.map(([name, value]) => [name, String(value)])),
    ALLOWED_PRIVATE_RANGES: ALLOWED_PRIVATE_RANGES.map(([address, bits]) => `${address}/${bits}`).join(','),
    CANARY_ADDRESSES: CANARY_ADDRESSES.map(
      ({ game, host, port }) => `${game === null ? '' : `${game}@`}${host}:${port}`,
    ).join(','),
    FOOTER_LINKS: FOOTER_LINKS.map(({ text, href }) => `${text} ${href}`).join(', '),
    DELIVERY_SCHEDULE: inSeconds(DELIVERY_SCHEDULE),
    BREAKER_SCHEDULE: inSeconds(BREAKER_SCHEDULE),
  };
}

function inSeconds(schedule: number[]): string {
  return schedule.map((ms) => `${ms / SECOND}s`).join(',');
}
