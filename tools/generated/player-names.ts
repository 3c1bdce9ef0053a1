import { knownGame } from '../../src/games/games.ts';
import { KIND_OF_GAME, NAME_KINDS, NAME_RULES, type NameKind } from '../../src/games/player-names.ts';
import { part, table } from './generated.ts';

function gamesOf(kind: NameKind): string {
  const ids = Object.keys(KIND_OF_GAME).filter((id) => KIND_OF_GAME[id] === kind);
  return ids.map((id) => knownGame(id).name).join(', ');
}

/** The table of games and their rules. */
export const PLAYER_NAMES = part('docs/player-names.md', 'rules', () => {
  const rows = NAME_KINDS.map((kind) => {
    const { takes, storedAs } = NAME_RULES[kind];
    return [gamesOf(kind) || 'others', takes, storedAs];
  });
  return table(['Game', 'The form takes', 'Stored as'], rows);
});
