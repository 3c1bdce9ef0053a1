/** Over what a protocol speaks first: only UDP ones share the limit of queries at once. */
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

/**
 * gamedig's type `minecraft` asks for three protocols at once and waits for all of them:
 * the listing knows which of them it is.
 */
const EXACT: Record<string, string> = { minecraft: 'minecraftvanilla', mbe: 'minecraftbedrock' };

/** The exact protocol of a game of gamedig's. */
export function exactProtocol(game: string, protocol: string): string {
  return EXACT[game] ?? protocol;
}

const ELSEWHERE = 'their status comes from a service on the internet, not from the server itself';
const SECRET = 'they answer only to a password or key of their owner';

/**
 * Protocols of gamedig's that are not for us: we ask a server itself, without credentials. A list on the
 * internet says nothing of whether players reach the server, knows no latency, and would be fetched whole for
 * each server; `nadeo` would also open connections of its own, past the address guard.
 */
const NOT_ASKED: Record<string, string> = {
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

/** Why servers with this protocol cannot be asked; null where they can. */
export function whyNotAsked(protocol: string): string | null {
  return NOT_ASKED[protocol] ?? null;
}
