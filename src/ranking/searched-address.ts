import { isIP } from 'node:net';
import { HostError, parseHost } from '../platform/address-guard.ts';

export type SearchedAddress = {
  /** As stored (`parseHost`). */
  host: string;
  port?: number;
  /** True for an IP address, and for a host with a port. A host alone may be misspelt, or be words with a dot. */
  isCertain: boolean;
};

/** A host in brackets, or one that contains a dot, and an optional port. */
const ADDRESS = /^(\[[\da-f:.]+\]|[^\s:/[\]]+\.[^\s:/[\]]+)(?::(\d{1,5}))?$/i;

/** Null if the text is neither an IP address nor a host with a dot, with or without a port. */
export function searchedAddress(typed: string): SearchedAddress | null {
  const text = typed.trim();
  const [, named, digits] = ADDRESS.exec(text) ?? (isIP(text) ? ['', text] : []);
  if (named === undefined) return null;
  const host = hostOf(named);
  if (host === null) return null;
  const port = digits === undefined ? undefined : Number(digits);
  return { host, ...(port === undefined ? {} : { port }), isCertain: port !== undefined || isIP(host) !== 0 };
}

function hostOf(named: string): string | null {
  try {
    return parseHost(named);
  } catch (error) {
    // Such as `1.21`, a version: it is searched by its words.
    if (error instanceof HostError) return null;
    throw error;
  }
}
