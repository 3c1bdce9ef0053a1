import { defineMessage, type Text, t } from '../language/t.ts';

/** The limit of concurrent queries applies to UDP only. */
type Transport = 'udp' | 'tcp' | 'http';

const TCP = [
  'battlefield',
  'minecraftvanilla',
  'mumble',
  'openttd',
  'soldat',
  'starmade',
  'teamspeak2',
  'teamspeak3',
];
const HTTP = ['assettocorsa', 'buildandshoot', 'eco', 'eldewrito', 'hytale', 'kspdmp', 'terraria'];

export function transportOf(protocol: string): Transport {
  if (TCP.includes(protocol)) return 'tcp';
  return HTTP.includes(protocol) ? 'http' : 'udp';
}

/** gamedig's protocol `minecraft` tries three protocols at once and waits for all of them. */
const EXACT: Record<string, string> = { minecraft: 'minecraftvanilla', mbe: 'minecraftbedrock' };

export function exactProtocol(game: string, protocol: string): string {
  return EXACT[game] ?? protocol;
}

const ELSEWHERE = defineMessage(
  'their status comes from a service on the internet, not from the server itself',
);
const SECRET = defineMessage('they answer only to a password or key of their owner');

/**
 * Tallyport queries only the server itself, without credentials. A service that lists servers does not show whether
 * players can reach a server or with which latency, and its whole list would be downloaded for each server. `nadeo`
 * would also open connections that the address guard does not check.
 */
const NOT_ASKED: Record<string, Text> = {
  altvmp: ELSEWHERE,
  asa: ELSEWHERE,
  beammp: ELSEWHERE,
  brokeprotocol: ELSEWHERE,
  discord: ELSEWHERE,
  factorio: ELSEWHERE,
  farmingsimulator: SECRET,
  geneshift: ELSEWHERE,
  hawakening: ELSEWHERE,
  minetest: ELSEWHERE,
  nadeo: SECRET,
  palworld: SECRET,
  ragemp: ELSEWHERE,
  renegadex: ELSEWHERE,
  renown: ELSEWHERE,
  scpsl: ELSEWHERE,
  squad: ELSEWHERE,
  theisleevrima: ELSEWHERE,
  vintagestory: ELSEWHERE,
};

/** Null if servers with this protocol can be queried. */
export function whyNotQueried(protocol: string): string | null {
  const reason = NOT_ASKED[protocol];
  return reason ? t(reason) : null;
}
