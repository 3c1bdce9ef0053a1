import { SECOND } from '../clock.ts';
import { DEFAULTS, DEFINED, type SettingValues } from './definitions.ts';

const LIST = new Intl.ListFormat('en-GB');

/** The least `KEEP_PLAYER_NAMES_MONTHS` except 0: last month's top voters need names for two months; one is spare. */
const LEAST_NAME_MONTHS = 3;

export function errorsTogether(values: SettingValues): string[] {
  const errors = DEFINED.flatMap(([name, { onlyForTests, neededInProduction }]) => {
    if (onlyForTests && values.NODE_ENV !== 'test' && values[name] !== DEFAULTS[name])
      return [`${name} ${onlyForTests}: remove it, or set NODE_ENV=test`];
    return neededInProduction && values.NODE_ENV === 'production' && !values[name]
      ? [`${name} is missing: ${neededInProduction}`]
      : [];
  });
  if (values.SMTP_URL && !values.MAIL_FROM) {
    errors.push(
      'MAIL_FROM is missing: SMTP_URL is set, and mail needs a sender such as Tallyport <votes@example.org>',
    );
  }
  if (Boolean(values.DISCORD_CLIENT_ID) !== Boolean(values.DISCORD_CLIENT_SECRET)) {
    errors.push('DISCORD_CLIENT_ID and DISCORD_CLIENT_SECRET belong together: set both or neither');
  }
  errors.push(...openIdErrors(values));
  const { KEEP_PLAYER_NAMES_MONTHS: months } = values;
  if (months > 0 && months < LEAST_NAME_MONTHS) {
    errors.push(
      `KEEP_PLAYER_NAMES_MONTHS (${months}) must be 0 or at least ${LEAST_NAME_MONTHS}: the cooldown, claims and last month's top voters need the names`,
    );
  }
  const shortest = 4 * values.LISTENER_TIMEOUT_MS + 2 * SECOND;
  if (values.LEASE_MS < shortest) {
    errors.push(
      `LEASE_MS (${values.LEASE_MS}) must be at least 4 × LISTENER_TIMEOUT_MS + 2000 = ${shortest}: a lease must outlive an attempt`,
    );
  }
  if (values.BREAKER_SCHEDULE.some((delay) => delay <= 0)) {
    errors.push('BREAKER_SCHEDULE must have no zero: a dead listener would be tried without a pause');
  }
  if (values.DELIVERY_SCHEDULE.length < 2 || values.DELIVERY_SCHEDULE.slice(1).some((delay) => delay <= 0)) {
    errors.push(
      'DELIVERY_SCHEDULE needs two times or more, and may be zero only at its beginning: a failing vote would be tried without a pause',
    );
  }
  return errors;
}

/** The error if only some settings of OpenID Connect are set. Only `OIDC_NAME` is optional. */
function openIdErrors(values: SettingValues): string[] {
  const names = ['OIDC_ISSUER', 'OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET'] as const;
  const missing = names.filter((name) => values[name] === undefined);
  const isNone = missing.length === names.length && values.OIDC_NAME === undefined;
  if (missing.length === 0 || isNone) return [];
  return [
    `${LIST.format(missing)} ${missing.length === 1 ? 'is' : 'are'} missing: ${LIST.format(names)} belong together, set all or none`,
  ];
}
