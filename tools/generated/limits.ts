import { globSync, readFileSync } from 'node:fs';
import { t } from '../../src/language/t.ts';
import { DAY, HOUR, MINUTE, SECOND } from '../../src/platform/clock.ts';
import { DEFINED_LIMITS } from '../../src/platform/limits/define-limit.ts';
import { WIDER_NETWORK_FACTOR } from '../../src/platform/limits/network-of.ts';
import { DEFAULTS } from '../../src/platform/settings/definitions.ts';
import { type Generated, part, table } from './generated.ts';

// A definition is made when its file is imported, so every file that has one is imported here.
for (const file of globSync('src/**/*.ts', { cwd: new URL('../..', import.meta.url) })) {
  const url = new URL(`../../${file}`, import.meta.url);
  if (readFileSync(url, 'utf8').includes('defineLimit(')) await import(url.href);
}

type Definition = (typeof DEFINED_LIMITS)[number];

const SORTED = DEFINED_LIMITS.toSorted((a, b) =>
  `${a.what} ${a.key}`.localeCompare(`${b.what} ${b.key}`, 'en'),
);
const twice = SORTED.find(({ key }, i) => SORTED.findIndex((one) => one.key === key) !== i);
if (twice) throw new Error(`Two limits have the key ${twice.key}, so each would count the uses of the other`);

const WINDOWS = [
  [DAY, '24 hours'],
  [HOUR, 'an hour'],
  [MINUTE, 'a minute'],
  [SECOND, 'a second'],
] as const;

function windowText({ windowMs, isOfUtcDay }: Definition): string {
  if (isOfUtcDay) return 'a UTC day';
  const whole = WINDOWS.find(([ms]) => ms === windowMs);
  if (whole) return whole[0] === DAY ? `in ${whole[1]}` : whole[1];
  return windowMs >= HOUR ? `in ${windowMs / HOUR} hours` : `in ${windowMs / MINUTE} minutes`;
}

function timesText(limit: Definition): string {
  const where = limit.isOfProcess ? ' in each process' : '';
  if ('times' in limit) return `${limit.times.toLocaleString('en')} ${windowText(limit)}${where}`;
  const { setting, part: factor = 1 } = limit;
  const times = Math.ceil(Number(DEFAULTS[setting]) * factor);
  const name = factor === 1 ? `\`${setting}\`` : `${factor} × \`${setting}\``;
  return `${times.toLocaleString('en')} ${windowText(limit)} (${name})`;
}

const NETWORK = `A network is an IPv4 address or an IPv6 /64. An IPv6 /48 has a count of its own, with ${WIDER_NETWORK_FACTOR} times the limit.`;

/** The limits with these keys, and those below them: `takes:server` is below `takes`. */
function limitsOf(...keys: string[]): Definition[] {
  return SORTED.filter(({ key }) => keys.some((one) => `${key}:`.startsWith(`${one}:`)));
}

function tableOf(file: string, limits: Definition[]): Generated {
  const rows = limits.map((limit) => [
    limit.what,
    limit.of,
    timesText(limit),
    'sentence' in limit ? `“${t(limit.sentence)}”` : limit.beyond,
  ]);
  const text = table(['What', 'Counted by', 'At most', 'Beyond it'], rows);
  const hasNetwork = limits.some(({ of }) => of === 'network');
  return part(file, 'limits', () => (hasNetwork ? `${NETWORK}\n\n${text}` : text));
}

export const LIMITS = [
  tableOf('SECURITY.md', SORTED),
  tableOf('docs/claims.md', limitsOf('claim-key')),
  tableOf('docs/delivery.md', limitsOf('outgoing', 'check', 'resend-delivered')),
  tableOf('docs/fetching.md', limitsOf('takes')),
];
