import { SECOND } from '../../src/platform/clock.ts';
import type { ConnectedConfig } from '../../src/platform/config.ts';
import { DEFAULTS } from '../../src/platform/settings/definitions.ts';
import { isChangeable } from '../../src/settings/changeable.ts';

/** The environment variables for `config`. */
export function environmentOf(config: ConnectedConfig): Record<string, string> {
  const {
    basePath: _,
    given,
    ALLOWED_PRIVATE_RANGES,
    CANARY_ADDRESSES,
    DELIVERY_SCHEDULE,
    BREAKER_SCHEDULE,
    FOOTER_LINKS,
    ...rest
  } = config;
  // A setting that operators may change is given only if the test has set it: the environment would win.
  const isOpen = (name: string, value: unknown) =>
    isChangeable(name) &&
    !given.has(name) &&
    (!(name in DEFAULTS) || String(value) === String(DEFAULTS[name]));
  const plain = Object.entries(rest).filter(([name, value]) => value !== undefined && !isOpen(name, value));
  return {
    ...Object.fromEntries(plain.map(([name, value]) => [name, String(value)])),
    ALLOWED_PRIVATE_RANGES: ALLOWED_PRIVATE_RANGES.map(([address, bits]) => `${address}/${bits}`).join(','),
    CANARY_ADDRESSES: CANARY_ADDRESSES.map(
      ({ game, host, port }) => `${game === null ? '' : `${game}@`}${host}:${port}`,
    ).join(','),
    ...(given.has('FOOTER_LINKS')
      ? { FOOTER_LINKS: FOOTER_LINKS.map(({ text, href }) => `${text} ${href}`).join(', ') }
      : {}),
    DELIVERY_SCHEDULE: inSeconds(DELIVERY_SCHEDULE),
    BREAKER_SCHEDULE: inSeconds(BREAKER_SCHEDULE),
  };
}

function inSeconds(schedule: number[]): string {
  return schedule.map((ms) => `${ms / SECOND}s`).join(',');
}
