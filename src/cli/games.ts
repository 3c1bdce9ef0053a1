import type { Command } from 'commander';
import { type ListedGame, listGames } from '../games/games.ts';
import { type Answer, printAnswer } from './answer.ts';
import { examples } from './invocation.ts';
import { table } from './table.ts';
import type { Terminal } from './terminal.ts';

/** Adds `games` to the `server` commands. */
export function addGamesCommand(server: Command, terminal: Terminal): void {
  server
    .command('games')
    .description('list the games whose servers can be listed with --game')
    .argument('[text]', 'part of an id or a name')
    .addHelpText(
      'after',
      examples(terminal, 'server games minecraft', 'server games --json | jq -r ".games[].id"'),
    )
    .action((text: string | undefined, _options: unknown, command: Command) =>
      printAnswer(terminal, games(text), command),
    );
}

function games(text: string | undefined): Answer {
  const found = listGames(text);
  const rows = found.map((game) => [game.id, game.name, portOf(game), game.notAsked ? 'no' : 'yes']);
  const reasons = new Map(found.flatMap(({ notAsked }) => (notAsked ? [[notAsked, true] as const] : [])));
  const notes = [...reasons.keys()].map((reason) => `Not probed: ${reason}.`);
  const shown = table(['ID', 'NAME', 'PORT', 'PROBED'], rows, 'No game has this in its id or its name.');
  return {
    json: {
      games: found.map(({ id, name, port, notAsked }) => ({
        id,
        name,
        port,
        probed: notAsked === null,
        reason: notAsked,
      })),
    },
    text: [shown, ...notes].join('\n'),
  };
}

function portOf({ port }: ListedGame): string | number {
  return port ?? '-';
}
