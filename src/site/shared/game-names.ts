import { listGames } from '../../games/games.ts';

const GAME_NAMES = new Map(listGames().map(({ id, name }) => [id, name]));

/** A game's name. Empty without a game; the id if the list does not have the game any more. */
export function gameName(game: string | null | undefined): string {
  return game ? (GAME_NAMES.get(game) ?? game) : '';
}

/** Whether the list of games has this id. */
export function isGame(game: string): boolean {
  return GAME_NAMES.has(game);
}
