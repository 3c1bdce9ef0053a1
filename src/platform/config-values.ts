import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { z } from 'zod';
import { HOUR, MINUTE, SECOND } from './clock.ts';
import { asciiDomain, EMAIL } from './email-address.ts';

/** The messages of these schemas say what a value must be. */

export const port = z
  .string()
  .regex(/^\d{1,5}$/, 'must be a port number, 0 to 65535')
  .transform(Number)
  .refine((value) => value <= 65_535, 'must be a port number, 0 to 65535');

export function wholeNumber(minimum: number, maximum: number) {
  const rule = `must be a whole number, ${minimum} to ${maximum}`;
  return z
    .string()
    .regex(/^-?\d{1,16}$/, rule)
    .transform(Number)
    .refine((value) => value >= minimum && value <= maximum, rule);
}

export function line(longest: number) {
  return z
    .string()
    .trim()
    .max(longest, `must have at most ${longest} characters`)
    .regex(/^\P{Cc}*$/u, 'must have no control characters');
}

export const listenHost = z
  .string()
  .refine(
    (value) => isIP(value) !== 0 || (/^[\w-]+(\.[\w-]+)*\.?$/.test(value) && URL.canParse(`http://${value}`)),
    'must be an IP address or a host name of this machine',
  );

export function oneOf<const T extends string>(values: readonly T[]) {
  return z.enum(values, `must be one of ${values.join(', ')}`);
}

const LANGUAGE_CODE = /^[a-z]{2,3}$/;

export const languageCode = z.string().regex(LANGUAGE_CODE, 'must be the code of a language, such as en');

export const languageCodes = z.string().transform((value, context) => {
  const codes = value.split(',').flatMap((code) => code.trim() || []);
  for (const code of codes)
    if (!LANGUAGE_CODE.test(code)) context.addIssue(`“${code}” is not the code of a language, such as en`);
  return codes;
});

export const publicUrl = z
  .string()
  .refine(
    (value) => /^https?:$/.test(URL.parse(value)?.protocol ?? ''),
    'must be an http:// or https:// address',
  )
  .refine((value) => !/[?#]/.test(value), 'must have no query and no fragment')
  .transform((value) => value.replace(/\/+$/, ''));

export function isLoopback(host: string): boolean {
  return /^(localhost|127(\.\d+){3}|\[::1\])$/.test(host);
}

/** The issuer of an OpenID Connect provider. A slash at the end stays, because it is part of the issuer's name. */
export const issuerUrl = z
  .string()
  .refine((value) => {
    const { protocol, hostname } = URL.parse(value) ?? {};
    return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname ?? ''));
  }, 'must be an https:// address (http:// only for this machine, such as http://127.0.0.1:8080)')
  .refine((value) => !/[?#@]/.test(value), 'must have no user name, no query and no fragment');

export const mongoUri = z
  .string()
  .regex(/^mongodb(\+srv)?:\/\/.+/, 'must begin with mongodb:// or mongodb+srv://');

export const redisUrl = z
  .string()
  .regex(
    /^(rediss?:\/\/[^/]+(\/\d+)?|rediss?\+sentinel:\/\/[^/]+\/[^/]+(\/\d+)?|rediss?\+cluster:\/\/[^/]+)\/?(\?[^#]*)?$/,
    'must be redis://host:port, redis+sentinel://host:port,host:port/name or redis+cluster://host:port,host:port; with TLS it begins with rediss',
  );

export const LEAST_SECRET = 32;

export const secretKey = z
  .string()
  .min(
    LEAST_SECRET,
    `must have at least ${LEAST_SECRET} characters: make one with \`openssl rand -base64 32\``,
  )
  .refine(
    (value) => new Set(value).size >= 10,
    'is too easy to guess: make one with `openssl rand -base64 32`',
  )
  .refine(
    (value) => !/change.?me|example|secret.?key/i.test(value),
    'is a placeholder: make one with `openssl rand -base64 32`',
  );

const itemsOf = (list: string) => list.split(',').flatMap((item) => item.trim() || []);

export const cidrList = z.string().transform((value, context) => {
  const ranges: [ipaddr.IPv4 | ipaddr.IPv6, number][] = [];
  for (const part of itemsOf(value)) {
    try {
      ranges.push(ipaddr.parseCIDR(part));
    } catch {
      context.addIssue({ code: 'custom', message: `“${part}” is not a range like 10.0.0.0/8 or fd00::/8` });
    }
  }
  return ranges;
});

/** A canary: a game server, or a TCP port if `game` is null. It answers whenever Tallyport's own network works. */
export type CanaryAddress = { game: string | null; host: string; port: number };

export const canaryList = z.string().transform((value, context): CanaryAddress[] =>
  itemsOf(value).flatMap((part) => {
    const [, game, ipv6, name, digits] =
      /^(?:([\w-]+)@)?(?:\[([\da-f:.]+)\]|([\w.-]+)):(\d{1,5})$/i.exec(part) ?? [];
    const host = ipv6 ?? name;
    const number = Number(digits);
    if (host !== undefined && number >= 1 && number <= 65_535) {
      return [{ game: game ?? null, host, port: number }];
    }
    context.addIssue({
      code: 'custom',
      message: `“${part}” is not a responder like example.org:443 or minecraft@play.example.org:25565`,
    });
    return [];
  }),
);

/** More than the real proxies would let clients choose their own address. */
const MOST_PROXIES = 8;

const HOW_TO_TRUST =
  'set the number of proxies in front (1 for a single one), or their addresses or ranges, separated by commas';

/** The shortest accepted prefixes of trusted ranges, in bits. Shorter ones would trust too much of the internet. */
const LEAST_PREFIX = { ipv4: 8, ipv4InIpv6: 104, ipv6: 16 };

export const trustProxy = z.string().transform((value, context): false | number | string[] => {
  const refuse = (message: string) => context.addIssue({ code: 'custom', message });
  if (value === 'false' || value === '0') return false;
  if (value === 'true') refuse(`would let every client choose its own address: ${HOW_TO_TRUST}`);
  else if (/^\d+$/.test(value)) {
    if (Number(value) > MOST_PROXIES) refuse(`must be at most ${MOST_PROXIES} proxies`);
    return Number(value);
  } else {
    const ranges = value.split(',').map((text) => text.trim());
    for (const range of ranges) {
      const error = rangeError(range);
      if (error) refuse(`“${range}” ${error}`);
    }
    return ranges;
  }
  return false;
});

/** What is wrong with a trusted address or range; null if nothing. `1.5` for 1.0.0.5 is refused as a typing error. */
function rangeError(range: string): string | null {
  const [address = '', prefix] = range.split(/\/(?=\d{1,3}$)/);
  const [ip, bits] =
    isIP(address) && ipaddr.isValid(address) ? [ipaddr.parse(address), Number(prefix ?? 128)] : [null, 0];
  if (!ip || (prefix !== undefined && bits > ip.toByteArray().length * 8)) {
    return `is neither an address nor a range; use false, or ${HOW_TO_TRUST}`;
  }
  const isMapped = ip instanceof ipaddr.IPv6 && ip.isIPv4MappedAddress();
  const least = LEAST_PREFIX[isMapped ? 'ipv4InIpv6' : ip.kind()];
  return bits < least
    ? `is so wide that clients other than your proxies could choose their own address: a prefix is at least ${least} here; ${HOW_TO_TRUST}`
    : null;
}

const UNITS: Record<string, number> = { s: SECOND, m: MINUTE, h: HOUR };

export const durations = z.string().transform((value, context) =>
  value.split(',').map((part) => {
    const match = /^\s*(\d+(?:\.\d+)?)(s|m|h)\s*$/.exec(part);
    if (!match) {
      context.addIssue({ code: 'custom', message: `“${part}” is not a time like 30s, 2m or 6h` });
      return 0;
    }
    return Number(match[1]) * (UNITS[match[2] ?? 's'] ?? SECOND);
  }),
);

export const smtpUrl = z
  .string()
  .refine(
    (value) => /^smtps?:$/.test(URL.parse(value)?.protocol ?? '') && URL.parse(value)?.hostname !== '',
    'must be smtp://user:password@host:587 or smtps://user:password@host:465',
  );

export const mailAddress = z
  .string()
  .regex(
    /^([^<>\r\n]+<)?[^\s<>@]+@[^\s<>@]+>?$/,
    'must be an address such as votes@example.org or Tallyport <votes@example.org>',
  );

const LONGEST_CONTACT = 200;
const CONTACT_RULE = `must be an e-mail address or an http:// or https:// address, with at most ${LONGEST_CONTACT} characters`;

function isWebAddress(value: string): boolean {
  return /^https?:\/\/[^\s<>"]+$/.test(value) && URL.canParse(value);
}

export const contact = z
  .string()
  .trim()
  .max(LONGEST_CONTACT, CONTACT_RULE)
  .transform((value) => (isWebAddress(value) ? value : asciiDomain(value)))
  .refine((value) => isWebAddress(value) || EMAIL.test(value), CONTACT_RULE);

export const colour = z
  .string()
  .trim()
  .regex(/^#[0-9a-f]{6}$/i, 'must be a colour such as #0f6168')
  .toLowerCase();

const MAX_FOOTER_LINKS = 8;

export const footerLinks = z.string().transform((value, context) => {
  const items = value.split(/,\s+|,$/).flatMap((item) => item.trim() || []);
  const links = items.map((item) => {
    const [, text = '', href = ''] = /^(.{1,40}?)\s+(\S+)$/.exec(item) ?? [];
    if (!isWebAddress(href) || href.length > 300) {
      context.addIssue(
        `“${item}” is not a text of at most 40 characters and an http:// or https:// address, such as Forum https://forum.example.org`,
      );
    }
    return { text, href };
  });
  if (links.length > MAX_FOOTER_LINKS) context.addIssue(`must have at most ${MAX_FOOTER_LINKS} links`);
  return links;
});
