import type { ServerAnswer } from './ask.ts';

const STATE =
  '(?:offline|sleeping|preparing|loading|starting(?: up)?|restarting|waiting in queue|saving|stopping|stopped|crashed|hibernating)';
/** `● Offline`. */
const ONLY = new RegExp(`^${STATE}$`);
/** `This server is offline.` */
const SENTENCE = new RegExp(`^(?:(?:this|the|your) )?server (?:is )?(?:currently |now )?${STATE}(?: |$)`);

/** lazymc, which starts a server when somebody joins, tells the server's places. */
const LAZYMC =
  /^server (?:is sleeping join to start it up|is starting please wait|going to sleep please wait)$/;

/** As Aternos and others answer: no players of no places, and a version or message that is a state. */
export function isStoppedHost({
  onlinePlayers,
  maxPlayers,
  motd,
  version,
}: Pick<ServerAnswer, 'onlinePlayers' | 'maxPlayers' | 'motd' | 'version'>): boolean {
  if (onlinePlayers) return false;
  if (LAZYMC.test(wordsOf(motd))) return true;
  if (maxPlayers) return false;
  return [motd, version].map(wordsOf).some((text) => ONLY.test(text) || SENTENCE.test(text));
}

/** Without colours, signs and capitals. */
function wordsOf(text: string): string {
  return text
    .replace(/§./g, '')
    .toLowerCase()
    .replace(/[^a-z]+/g, ' ')
    .trim();
}
