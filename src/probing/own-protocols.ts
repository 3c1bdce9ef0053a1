import type { Game } from '../games/games.ts';
import type { OwnProtocol } from './own-protocol.ts';
import { DETAILS_REQUEST, INFO_REQUEST } from './protocols/a2s.ts';
import { askA2s } from './protocols/ask-a2s.ts';
import { askJava } from './protocols/ask-java.ts';
import { askBedrock } from './protocols/bedrock.ts';
import { askFivem, askQuake } from './protocols/quake.ts';
import { askSamp } from './protocols/samp.ts';
import { askTeamspeak2, askTeamspeak3 } from './protocols/teamspeak.ts';

/** The protocols that Tallyport implements itself, under gamedig's names. For all others gamedig is used (ADR 121). */
const OWN: Readonly<Record<string, OwnProtocol>> = {
  dayz: askA2s(INFO_REQUEST),
  fivem: askFivem,
  goldsrc: askA2s(DETAILS_REQUEST),
  gtasao: askSamp,
  hexen2: askQuake,
  minecraftbedrock: askBedrock,
  minecraftvanilla: askJava,
  quake1: askQuake,
  quake2: askQuake,
  quake3: askQuake,
  samp: askSamp,
  sdtd: askA2s(INFO_REQUEST),
  teamspeak2: askTeamspeak2,
  teamspeak3: askTeamspeak3,
  toxikk: askA2s(INFO_REQUEST),
  valve: askA2s(INFO_REQUEST),
  vcmp: askSamp,
  warsow: askQuake,
  xonotic: askQuake,
};

/** Tallyport's own implementation of a game's protocol; undefined if there is none. */
export function ownProtocol({ id, protocol }: Game): OwnProtocol | undefined {
  // Battalion 1944 sends its name and counts in the answer to a second question, which only gamedig asks.
  if (id === 'battalion1944') return undefined;
  return Object.hasOwn(OWN, protocol) ? OWN[protocol] : undefined;
}
