import type { OwnProtocol } from './own-protocol.ts';
import { askFivem, askQuake } from './protocols/quake.ts';
import { askSamp } from './protocols/samp.ts';
import { askTeamspeak2, askTeamspeak3 } from './protocols/teamspeak.ts';

/** The protocols that we speak ourselves, by gamedig's names; gamedig speaks the others (ADR 0121). */
const OWN: Readonly<Record<string, OwnProtocol>> = {
  fivem: askFivem,
  gtasao: askSamp,
  hexen2: askQuake,
  quake1: askQuake,
  quake2: askQuake,
  quake3: askQuake,
  samp: askSamp,
  teamspeak2: askTeamspeak2,
  teamspeak3: askTeamspeak3,
  vcmp: askSamp,
  warsow: askQuake,
  xonotic: askQuake,
};

/** Our own implementation of a protocol; undefined if there is none. */
export function ownProtocol(name: string): OwnProtocol | undefined {
  return Object.hasOwn(OWN, name) ? OWN[name] : undefined;
}
