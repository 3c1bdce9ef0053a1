import type { Probe, ServerAnswer } from './ask.ts';
import { plainText } from './minecraft-text.ts';
import { MOST_PLAYERS } from './read-answer.ts';

export type Answered = Extract<Probe, { ok: true }>;

/** Players join and leave between the two questions: up to this many, or this part of the larger number. */
const ALWAYS_ALLOWED = 2;
const ALLOWED_PART = 0.05;

/** The first line: Geyser passes on the second one in another field. */
function firstLine({ motd }: ServerAnswer): string {
  const [line = ''] = plainText(motd).trim().split('\n');
  return line.replaceAll(/\s+/g, ' ').trim();
}

/**
 * Whether the players of Bedrock Edition are in the count of Java Edition too (docs/two-editions.md). As seen on the
 * wire, Geyser passes on the counts of the Java server, or its message, or neither; then its players are at most those
 * of the Java server on the same machine.
 */
export function haveSamePlayers(java: Answered, bedrock: Answered): boolean {
  const [ofJava, ofBedrock] = [java.answer, bedrock.answer];
  const [online, others] = [ofJava.onlinePlayers, ofBedrock.onlinePlayers];
  const line = firstLine(ofJava);
  if (line !== '' && line === firstLine(ofBedrock)) return true;
  if (online === null || others === null) return false;
  const allowed = Math.max(ALWAYS_ALLOWED, ALLOWED_PART * Math.max(online, others));
  if (ofJava.maxPlayers === ofBedrock.maxPlayers && Math.abs(online - others) <= allowed) return true;
  return java.ip !== undefined && java.ip === bedrock.ip && others <= online + allowed;
}

type Players = Pick<ServerAnswer, 'onlinePlayers' | 'maxPlayers'>;

/** Of both: the larger numbers for the same players, otherwise the sums. Unknown if Java Edition hides its number. */
export function playersOfBoth(java: Answered, bedrock: Answered): Players {
  const { onlinePlayers, maxPlayers } = java.answer;
  const others = bedrock.answer;
  if (onlinePlayers === null || others.onlinePlayers === null) return { onlinePlayers, maxPlayers };
  if (haveSamePlayers(java, bedrock)) {
    return others.onlinePlayers > onlinePlayers
      ? { onlinePlayers: others.onlinePlayers, maxPlayers: others.maxPlayers }
      : { onlinePlayers, maxPlayers };
  }
  return {
    onlinePlayers: Math.min(onlinePlayers + others.onlinePlayers, MOST_PLAYERS),
    // If one has no limit, or an unknown one: so have both together.
    maxPlayers: maxPlayers && others.maxPlayers ? Math.min(maxPlayers + others.maxPlayers, MOST_PLAYERS) : 0,
  };
}
