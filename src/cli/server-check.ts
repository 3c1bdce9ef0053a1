import type { Command } from 'commander';
import { statusAt } from '../history/current-status.ts';
import type { Probe, ProbeFailure } from '../probing/ask.ts';
import { createAsk } from '../probing/ask-server.ts';
import { createCanary } from '../probing/canary.ts';
import { type Checked, checkServer } from '../probing/check-server.ts';
import type { ServerStatus } from '../servers/server.ts';
import { type Answer, examples, onPlatform } from './answer.ts';
import { CommandError } from './failure.ts';
import { serverOf } from './find.ts';
import { invocation } from './invocation.ts';
import type { Session } from './session.ts';
import { oneLine, pairs } from './table.ts';
import type { Terminal } from './terminal.ts';
import { sentence, span } from './words.ts';

/** Adds `check` to the `server` commands. */
export function addServerCheckCommand(server: Command, terminal: Terminal): void {
  server
    .command('check')
    .description('ask a game server now; three failing checks in a row make it offline')
    .argument('<server>', 'id or slug')
    .addHelpText('after', examples(terminal, 'server check alpha-craft', 'server check alpha-craft --json'))
    .addHelpText('after', '\nIt ends with 0 when the server answered, with 1 when it did not.')
    .action(onPlatform(terminal, check));
}

async function check(session: Session, text: string): Promise<Answer> {
  const server = await serverOf(session, text);
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
        `${server.slug} has no game, so nobody knows how to ask it. Set one: ${invocation(`server edit ${server.slug} --game minecraft`, env)}; all games: ${invocation('server games', env)}`,
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
        'The check could not be made: this machine is out of sockets. Nothing was recorded.',
      );
  }
}

type Recorded = Extract<Checked, { kind: 'recorded' }>;

function answerOf({ probe, end, server }: Recorded, now: Date): Answer {
  const status = statusAt(server, now);
  const { current } = server;
  const said = probe.ok
    ? probe.answer
    : { ...current, onlinePlayers: status === 'offline' ? 0 : current.onlinePlayers, latencyMs: null };
  const json = {
    status,
    online_players: said.onlinePlayers,
    max_players: said.maxPlayers,
    latency_ms: said.latencyMs === null ? null : Math.round(said.latencyMs * 100) / 100,
    motd: said.motd,
    server_version: said.version,
  };
  if (!probe.ok) {
    const error = sentence(probe.message);
    const text = [
      `${server.slug} did not answer: ${oneLine(error)}`,
      WHAT_TO_DO[probe.failure],
      whatItMeans(end, status, server.probe.failures),
    ].join('\n');
    return { json: { ...json, error }, text, exitCode: 1 };
  }
  return { json, text: `${server.slug} answered.\n${figures(probe, status)}` };
}

function figures({ answer }: Extract<Probe, { ok: true }>, status: ServerStatus): string {
  const { onlinePlayers, maxPlayers, latencyMs, motd, version } = answer;
  return pairs([
    ['Status', status],
    ['Players', `${onlinePlayers} of ${maxPlayers === 0 ? 'any number' : maxPlayers}`],
    ['Latency', span(Math.round(latencyMs))],
    ['Message', motd || '-'],
    ['Version', version || '-'],
  ]);
}

function whatItMeans(end: Recorded['end'], status: ServerStatus, failures: number): string {
  if (end === 'canary-failed') {
    return 'It is not counted: no canary answered either, so our own network is at fault.';
  }
  if (end === 'not-asked') return 'It is not counted: the server was not asked.';
  return `Its status is ${status}; failed checks in a row: ${failures}.`;
}

/** What its owner, or the operator, can do. */
const WHAT_TO_DO: Record<ProbeFailure, string> = {
  'dns-not-found': 'Its address has no entry in DNS: look for a typing error, or set the address anew.',
  'dns-timeout': 'The name servers of its address, or those of this machine, do not answer: try again later.',
  'address-refused':
    'Its address is a private one, or the operator refuses it. Where it is meant, open its range (ALLOWED_PRIVATE_RANGES, REFUSED_RANGES).',
  'game-unknown': 'Its game is not in the list of games: set another one.',
  'connection-refused':
    'The machine is there, but nothing listens: is the server running, and is its port (or query port) right?',
  'no-answer':
    'Is the server running, are address and port right, are queries switched on, and does its firewall let them in?',
  closed:
    'Something took the question and hung up: is the port right, and does a proxy stand before the server?',
  'answer-broken': 'Something answers there in another way than this game does: are port and game right?',
  'answer-too-long': 'Something sends far more than a game server has to say: are port and game right?',
  'outgoing-limited': 'Too many connections to its address were opened: try again in a minute.',
  stopped: 'The check was stopped: try again.',
};
