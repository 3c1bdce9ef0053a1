import type { Command } from 'commander';
import { knownGame, listGames, whyNotProbed } from '../games/games.ts';
import { playersHidden, statusAt } from '../history/current-status.ts';
import { hostAndPort } from '../platform/host-and-port.ts';
import type { Probe, ProbeFailure, ServerAnswer } from '../probing/ask.ts';
import { createAsk } from '../probing/ask-server.ts';
import { createCanary } from '../probing/canary.ts';
import { type Checked, checkServer } from '../probing/check-server.ts';
import type { ServerAddress } from '../servers/listed-addresses.ts';
import { secondOf } from '../servers/second-address.ts';
import type { ServerStatus } from '../servers/server.ts';
import { type Answer, printAnswer, withDeps } from './answer.ts';
import { CommandError } from './failure.ts';
import { requireServer } from './find.ts';
import { examples, invocation } from './invocation.ts';
import { sentence, span } from './output-format.ts';
import type { Session } from './session.ts';
import { oneLine, pairs, table } from './table.ts';
import type { Terminal } from './terminal.ts';

export function addServerCheckCommand(server: Command, terminal: Terminal): void {
  server
    .command('check')
    .description('query a game server now; after three failed checks in a row it is offline')
    .argument('<server>', 'id or slug')
    .addHelpText('after', examples(terminal, 'server check alpha-craft', 'server check alpha-craft --json'))
    .addHelpText('after', '\nThe exit code is 0 if the server answered and 1 if it did not.')
    .action(withDeps(terminal, check));
}

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
  const rows = found.map((game) => [game.id, game.name, game.port ?? '-', game.notAsked ? 'no' : 'yes']);
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

async function check(session: Session, text: string): Promise<Answer> {
  const server = await requireServer(session, text);
  const { env } = session.terminal;
  const ask = createAsk(session.config);
  const canary = createCanary({ ...session, ask });
  const checked = await checkServer({ ...session, ask, canary }, server);
  switch (checked.kind) {
    case 'recorded':
      return answerOf(checked, session.clock.now());
    case 'no-game':
      throw new CommandError(
        'no-game',
        server.game
          ? `${knownGame(server.game).name} servers cannot be queried: ${whyNotProbed(server.game)}.`
          : `${server.slug} has no game, so it cannot be queried. Set one: ${invocation(`server edit ${server.slug} --game minecraft`, env)}; list of games: ${invocation('server games', env)}`,
      );
    case 'void':
      throw new CommandError(
        'changed-meanwhile',
        `${server.slug} was edited or removed during the check: nothing was recorded. Check it again.`,
      );
    case 'limited':
    case 'stopped':
      throw new CommandError(
        'not-checked',
        'The check could not be made: this machine has no free sockets. Nothing was recorded.',
      );
  }
}

type Recorded = Extract<Checked, { kind: 'recorded' }>;

function answerOf({ probe, each, end, server }: Recorded, now: Date): Answer {
  const status = statusAt(server, now);
  const { current } = server;
  const shown = probe.ok
    ? probe.answer
    : { ...current, onlinePlayers: status === 'offline' ? 0 : current.onlinePlayers, latencyMs: null };
  const json = {
    status,
    online_players: shown.onlinePlayers ?? 0,
    players_hidden: probe.ok
      ? probe.answer.onlinePlayers === null
      : status !== 'offline' && playersHidden(current),
    max_players: shown.maxPlayers ?? 0,
    latency_ms: shown.latencyMs === null ? null : Math.round(shown.latencyMs * 100) / 100,
    motd: shown.motd,
    server_version: shown.version,
    ...(each
      ? { addresses: [jsonOf(server, each.first), jsonOf(secondOf(server) ?? server, each.second)] }
      : {}),
  };
  const lines = each
    ? ['', lineOf(server, each.first), lineOf(secondOf(server) ?? server, each.second)].join('\n')
    : '';
  if (!probe.ok) {
    const error = sentence(probe.message);
    const text = [
      `${server.slug} did not answer: ${oneLine(error)}`,
      WHAT_TO_DO[probe.failure],
      whatItMeans(end, status, server.probe.failures),
    ]
      .join('\n')
      .concat(lines);
    return { json: { ...json, error }, text, exitCode: 1 };
  }
  return { json, text: `${server.slug} answered.\n${figures(probe, status)}${lines}` };
}

/** Of one of two addresses. */
function lineOf({ address, port }: ServerAddress, probe: Probe | null): string {
  const said = probe?.ok ? playersText(probe.answer) : oneLine(sentence(probe?.message ?? 'not asked'));
  return `${hostAndPort(address, port)}: ${said}`;
}

function jsonOf({ address, port }: ServerAddress, probe: Probe | null) {
  const error = probe && !probe.ok ? sentence(probe.message) : null;
  return { address, port, online_players: probe?.ok ? probe.answer.onlinePlayers : null, error };
}

function figures({ answer }: Extract<Probe, { ok: true }>, status: ServerStatus): string {
  const { latencyMs, motd, version } = answer;
  return pairs([
    ['Status', status],
    ['Players', playersText(answer)],
    ['Latency', span(Math.round(latencyMs))],
    ['Message', motd || '-'],
    ['Version', version || '-'],
  ]);
}

function playersText({ onlinePlayers, maxPlayers }: ServerAnswer): string {
  if (onlinePlayers === null) return 'players hidden';
  return maxPlayers === null
    ? String(onlinePlayers)
    : `${onlinePlayers} of ${maxPlayers === 0 ? 'any number' : maxPlayers}`;
}

function whatItMeans(end: Recorded['end'], status: ServerStatus, failures: number): string {
  if (end === 'canary-failed') {
    return 'The check does not count: no canary answered either, so our own network is down.';
  }
  if (end === 'not-asked') return 'The check does not count: the server was not queried.';
  return `Its status is ${status}; failed checks in a row: ${failures}.`;
}

const WHAT_TO_DO: Record<ProbeFailure, string> = {
  'dns-not-found': 'Its address has no entry in DNS: check the spelling, or set another address.',
  'dns-timeout': 'The name servers of its address, or those of this machine, do not answer. Try again later.',
  'address-refused':
    'Its address is private, or the operator refuses it. If it is right, allow its range (ALLOWED_PRIVATE_RANGES, REFUSED_RANGES).',
  'game-unknown': 'Its game is not in the list of games. Set another one.',
  'connection-refused':
    'The machine answers, but nothing listens on the port. Is the server running, and is its port (or query port) right?',
  'no-answer':
    'Is the server running, are address and port right, are queries enabled, and does its firewall allow them?',
  closed:
    'Something accepted the query and closed the connection. Is the port right, and is there a proxy in front of the server?',
  'answer-broken': 'The answer is not one of this game. Are port and game right?',
  'answer-too-long': 'The answer is too long for a game server. Are port and game right?',
  'host-says-stopped':
    'The host answers in place of the server, which is stopped, sleeping or starting. Start it in the panel of the host.',
  'outgoing-limited': 'Too many connections to its address were opened. Try again in a minute.',
  stopped: 'The check was stopped. Try again.',
};
