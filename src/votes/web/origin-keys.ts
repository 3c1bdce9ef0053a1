import { createHmac } from 'node:crypto';
import type { EstablishedAccount } from '../../accounts/mailbox.ts';
import {
  neighbourhoodOf,
  networkOf,
  subnetOf,
  WIDER_NETWORK_FACTOR,
  widerNetworkOf,
} from '../../platform/limits/network-of.ts';
import { derivedKey } from '../../platform/secrets.ts';

type Keys = { config: { SECRET_KEY: string } };

export type Voter = {
  /** The address of the request. */
  address: string;
  /** Null for a visitor, also one whose account is not established. */
  account: EstablishedAccount | null;
};

export const ORIGIN_KINDS = ['user', 'network', 'site'] as const;

/** `factor`: times the limits of one network. */
export type Origin = { id: string; kind: (typeof ORIGIN_KINDS)[number]; factor: number };

/** The limits that a vote counts in: also the IPv6 /48, because one person may have all its networks. */
export function originsOf(keys: Keys, { address, account }: Voter): Origin[] {
  const user: Origin[] = account
    ? [{ id: keyed(keys, `user ${account.mailbox}`), kind: 'user', factor: 1 }]
    : [];
  const network: Origin = { id: networkKey(keys, address), kind: 'network', factor: 1 };
  const wider = widerNetworkOf(address);
  if (wider === networkOf(address)) return [...user, network];
  return [
    ...user,
    network,
    { id: keyed(keys, `network ${wider}`), kind: 'site', factor: WIDER_NETWORK_FACTOR },
  ];
}

/** Of the IPv4 /24 or IPv6 /64. Without `SECRET_KEY`, nobody can find out from the hash which network voted. */
export function networkKey(keys: Keys, address: string): string {
  return keyed(keys, `network ${subnetOf(address)}`);
}

/** The new players of an IPv4 /24 or IPv6 /48 count together. */
export function widerNetworkKey(keys: Keys, address: string): string {
  const wider = widerNetworkOf(address);
  return keyed(keys, `network ${wider === networkOf(address) ? subnetOf(address) : wider}`);
}

/** The IPv4 /16 or IPv6 /32. */
export function neighbourhoodKey(keys: Keys, address: string): string {
  return keyed(keys, `network ${neighbourhoodOf(address)}`);
}

export function mailDomainKey(keys: Keys, domain: string): string {
  return keyed(keys, `mail domain ${domain}`);
}

/** Of all networks around an address: a block of kind `origin` has one of them. */
export function networkKeys(keys: Keys, address: string): string[] {
  return [networkKey(keys, address), widerNetworkKey(keys, address), neighbourhoodKey(keys, address)];
}

/** The key of a session id, which only the browser stores. */
export function sessionKey(keys: Keys, session: string): string {
  return keyed(keys, `session ${session}`);
}

/** A `usernameKey` may be long. */
export function playerHash(keys: Keys, usernameKey: string): string {
  return keyed(keys, `player ${usernameKey}`);
}

export function playerOfNetworkKey(keys: Keys, network: string, player: string): string {
  return keyed(keys, `player of network ${network} ${player}`);
}

function keyed({ config: { SECRET_KEY } }: Keys, text: string): string {
  const key = derivedKey(SECRET_KEY, 'origins of votes');
  return createHmac('sha256', key).update(text).digest('base64url').slice(0, 22);
}
