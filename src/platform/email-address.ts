import { domainToASCII } from 'node:url';
import { z } from 'zod';

/** The longest address that SMTP delivers to (RFC 5321). */
export const LONGEST_EMAIL = 254;

const ATOM = "[\\w!#$%&'*+/=?^`{|}~-]+";
const LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';

/**
 * Addresses as RFC 5321 has them, without quoted names and IP addresses: `a/b@example.org`, and international domains in
 * ASCII (`ivan@xn--e1afmkfd.xn--p1ai`). zod's own pattern refuses both.
 */
export const EMAIL = new RegExp(
  `^${ATOM}(?:\\.${ATOM})*@(?:${LABEL}\\.)+(?:[a-z]{2,63}|xn--[a-z0-9-]{1,59})$`,
  'i',
);

type Rule = { error: string | (() => string) };

export function emailAddress(rule: Rule, tooLong = rule) {
  return z
    .string(rule)
    .transform(storedEmail)
    .pipe(z.string().max(LONGEST_EMAIL, tooLong).regex(EMAIL, rule));
}

/**
 * An address as accounts have it: in lower case, without surrounding spaces, and with an international domain in ASCII,
 * as mail servers take it. Use it for every look-up of an address that somebody typed.
 */
export function storedEmail(typed: string): string {
  return asciiDomain(typed.trim()).toLowerCase();
}

/** An address with its domain in ASCII. Anything else stays as it is. */
export function asciiDomain(email: string): string {
  const at = email.lastIndexOf('@');
  const domain = email.slice(at + 1);
  // An empty result means that the domain is invalid.
  return /[^ -~]/.test(domain) ? `${email.slice(0, at + 1)}${domainToASCII(domain) || domain}` : email;
}
