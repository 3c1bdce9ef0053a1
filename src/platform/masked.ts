import { SECRETS } from './settings/definitions.ts';

const HIDDEN = '***';

/** Hosts with ports. The pattern is so narrow that a part of a password cannot match. */
const HOSTS = String.raw`(?:[\w.-]+|\[[\da-fA-F:.]+\])(?::\d{1,5})?`;
const ADDRESS = new RegExp(
  String.raw`^([a-z][a-z+]*:\/\/)([^/?#@\s]*@)?(${HOSTS}(?:,${HOSTS})*)((?:\/[\w.-]*)*)(\?[^@]*)?$`,
);

/**
 * The URL of a service with user name and password masked and without its options: `mongodb://***@db:27017/tallyport`.
 * Null if the credentials cannot be separated with certainty.
 */
export function shownAddress(url: string): string | null {
  const [, scheme, credentials, hosts, path] = ADDRESS.exec(url) ?? [];
  if (hosts === undefined) return null;
  return `${scheme}${credentials ? `${HIDDEN}@` : ''}${hosts}${path}`;
}

/**
 * A setting's value as it may be shown. If a secret is the URL of a service, its scheme, hosts and path are shown;
 * other secrets are masked. In values that are no secrets, the credentials in URLs are masked.
 */
export function shownValue(name: string, value: string): string {
  if (SECRETS.has(name)) return shownAddress(value) ?? HIDDEN;
  return value.replace(/(:\/\/)[^/?#\s]*@/g, `$1${HIDDEN}@`);
}

/** Shorter parts of a secret are not removed, because they occur in ordinary texts. */
const SHORTEST = 3;

export function hiding(secrets: string[]): (text: string) => string {
  const parts = secrets
    .flatMap(partsOf)
    .filter((part) => part.length >= SHORTEST)
    .toSorted((a, b) => b.length - a.length);
  return (text) => parts.reduce((shown, part) => shown.replaceAll(part, HIDDEN), text);
}

function partsOf(secret: string): string[] {
  const [, credentials = '', options = ''] = /^[a-z+]+:\/\/(?:(.*)@)?[^?]*(?:\?(.*))?$/s.exec(secret) ?? [];
  const password = credentials.slice(credentials.indexOf(':') + 1);
  const values = [...new URLSearchParams(options).values()].filter((value) => value.length > 8);
  return [secret, credentials, password, decoded(password), ...values];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
