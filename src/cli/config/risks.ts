import type { Config } from '../../platform/config.ts';
import { isLoopback } from '../../platform/config-values.ts';

/** A line for each setting that is allowed but probably a mistake. */
export function risksOf(config: Config, variables: Record<string, string>): string[] {
  return [
    ...incomplete(config),
    ...addressRisks(config, variables.PUBLIC_URL !== undefined),
    ...mailRisks(config),
    ...providerRisks(config),
    ...accessRisks(config),
  ];
}

function incomplete({ MONGODB_URI, REDIS_URL, SECRET_KEY }: Config): string[] {
  const missing = Object.entries({ MONGODB_URI, REDIS_URL, SECRET_KEY }).flatMap(([name, value]) =>
    value ? [] : [name],
  );
  if (missing.length === 0) return [];
  return [
    `Not set: ${missing.join(', ')}. Only \`npm start\` runs without; web, worker and scheduler do not start.`,
  ];
}

function addressRisks({ NODE_ENV, PUBLIC_URL, PORT, METRICS_PORT }: Config, isGiven: boolean): string[] {
  const isLocal = isLoopback(new URL(PUBLIC_URL).hostname);
  return [
    ...(NODE_ENV === 'production' && !isGiven
      ? [`PUBLIC_URL is not set: links in mails and for plugins lead to ${PUBLIC_URL}`]
      : []),
    ...(isGiven && !isLocal && PUBLIC_URL.startsWith('http:')
      ? [
          'PUBLIC_URL begins with http: passwords, sessions and tokens cross the network unencrypted, and players cannot vote on the pages',
        ]
      : []),
    ...(isGiven && !isLocal && NODE_ENV !== 'production'
      ? [`NODE_ENV is ${NODE_ENV}: a public listing needs production`]
      : []),
    ...(PORT !== 0 && PORT === METRICS_PORT
      ? [`PORT and METRICS_PORT are both ${PORT}: a web process cannot open both`]
      : []),
  ];
}

function mailRisks({ SMTP_URL }: Config): string[] {
  if (!SMTP_URL) {
    return [
      'SMTP_URL is not set: no mail is sent, addresses are not confirmed, and owners are not notified by mail',
    ];
  }
  const { protocol, hostname, searchParams } = new URL(SMTP_URL);
  const isEncrypted = protocol === 'smtps:' || searchParams.get('requireTLS') === 'true';
  return isEncrypted || isLoopback(hostname)
    ? []
    : [
        'SMTP_URL does not require TLS: where the mail server does not offer it, password and mails are sent unencrypted. Add ?requireTLS=true or use smtps://',
      ];
}

function providerRisks({ OIDC_ISSUER, OIDC_TRUST_EMAIL }: Config): string[] {
  return OIDC_ISSUER && OIDC_TRUST_EMAIL === 'on'
    ? [
        `OIDC_TRUST_EMAIL is on: whoever can set any e-mail address at ${new URL(OIDC_ISSUER).host} can open the account here that has it. Use it only if nobody but you sets addresses there`,
      ]
    : [];
}

function accessRisks(config: Config): string[] {
  const { OPERATOR_TWO_FACTOR, OPERATOR_PASSWORD_HASH, ALLOWED_PRIVATE_RANGES } = config;
  const { SECRET_KEY, SECRET_KEY_PREVIOUS } = config;
  return [
    ...(OPERATOR_TWO_FACTOR === 'optional'
      ? ['OPERATOR_TWO_FACTOR is optional: a stolen password of an operator opens the admin area']
      : []),
    ...(ALLOWED_PRIVATE_RANGES.length > 0
      ? ['ALLOWED_PRIVATE_RANGES is open to the servers and listeners of every account']
      : []),
    ...(SECRET_KEY && SECRET_KEY === SECRET_KEY_PREVIOUS
      ? ['SECRET_KEY_PREVIOUS is the same as SECRET_KEY: it must be the old one, or be removed']
      : []),
    ...(OPERATOR_PASSWORD_HASH === undefined
      ? []
      : ['OPERATOR_PASSWORD_HASH is not used any more: remove it']),
  ];
}
