import { listGames } from '../../games/games.ts';

const GAME_NAMES = new Map(listGames().map(({ id, name }) => [id, name]));

/** The id if the list of games does not have it. */
export function gameName(game: string | null | undefined): string {
  return game ? (GAME_NAMES.get(game) ?? game) : '';
}

export function isGame(id: string): boolean {
  return GAME_NAMES.has(id);
}
