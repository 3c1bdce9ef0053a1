import { findGame, type Game, storedGameId } from './games.ts';

export const EDITIONS = ['java', 'bedrock'] as const;
/** Of Minecraft. */
export type Edition = (typeof EDITIONS)[number];

const GAMES: Readonly<Record<Edition, string>> = { java: 'minecraft', bedrock: 'mbe' };

/** Null for other games. */
export function editionOf(game: string | null | undefined): Edition | null {
  const id = game ? storedGameId(game) : undefined;
  return EDITIONS.find((edition) => GAMES[edition] === id) ?? null;
}

/** The game that a second address of such a server has; null if the server can have none. */
export function otherEdition(game: string | null | undefined): Game | null {
  const edition = editionOf(game);
  if (edition === null) return null;
  return findGame(GAMES[edition === 'java' ? 'bedrock' : 'java']) ?? null;
}
