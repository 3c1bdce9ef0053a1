import type { Command } from 'commander';
import { isProbed, knownGame, whyNotProbed } from '../games/games.ts';
import { statusAt } from '../history/current-status.ts';
import { profileRecord } from '../import-export/profile-record.ts';
import { listenerState } from '../listeners/listener-state.ts';
import { hostWarning } from '../platform/address-guard.ts';
import type { AppDeps } from '../process/app-deps.ts';
import { addServer, editServer, listServers } from '../servers/listed-servers.ts';
import { pauseAt } from '../servers/listing-pause.ts';
import type { Server } from '../servers/server.ts';
import { voteFigures } from '../votes/vote-figures.ts';
import { removeServer } from '../workflows/remove-server.ts';
import { nextOwner, transferServer } from '../workflows/transfer-server.ts';
import { type Answer, withDeps } from './answer.ts';
import { CommandError, wrongUse } from './failure.ts';
import { BY, noLongerListed, requireServer } from './find.ts';
import { examples, invocation } from './invocation.ts';
import { portOption, portOrNone } from './option-values.ts';
import { countWithNoun, iso, when } from './output-format.ts';
import { requireYes } from './prompt.ts';
import { addGamesCommand, addServerCheckCommand } from './server-check.ts';
import { addServerPauseCommands } from './server-pause.ts';
import { addressesText, ownerEmail, ownersOf, serverJson, serverText } from './server-view.ts';
import type { Session } from './session.ts';
import { table } from './table.ts';
import { say, type Terminal } from './terminal.ts';

export function addServerCommands(server: Command, terminal: Terminal): void {
  server
    .command('add')
    .description('list a game server')
    .requiredOption('--name <name>', 'the name that users see')
    .requiredOption('--address <host>', 'host name or IP address for players, without a port')
    .requiredOption('--port <port>', 'port for players', portOption)
    .option('--query-port <port>', 'port of status queries, if it is not the players’ port', portOption)
    .option('--second-address <host>', 'of the other edition of Minecraft: Java or Bedrock')
    .option('--second-port <port>', 'its port, if it is not the usual one of that edition', portOption)
    .option('--game <game>', 'such as minecraft, mbe (Bedrock), counterstrike2, rust: see “server games”')
    .option('--country <code>', 'two-letter country code')
    .option('--premium', 'mark it as premium')
    .addHelpText(
      'after',
      examples(
        terminal,
        'server add --name "Alpha Craft" --address play.example.org --port 25565 --game minecraft',
        'server add --name "Both" --address play.example.org --port 25565 --game minecraft --second-address play.example.org',
        'server add --name "Dustbowl" --address tf.example.org --port 27015 --game teamfortress2',
      ),
    )
    .action(withDeps(terminal, add));

  server
    .command('list')
    .description('show the listed servers, sorted by rank')
    .option('--removed', 'show removed servers too')
    .addHelpText('after', examples(terminal, 'server list', 'server list --json | jq -r ".servers[].slug"'))
    .action(withDeps(terminal, list));

  server
    .command('show')
    .description('show everything about a server')
    .argument('<server>', 'id or slug; also of a removed server')
    .addHelpText('after', examples(terminal, 'server show alpha-craft'))
    .action(withDeps(terminal, show));

  server
    .command('edit')
    .description('change a server’s settings; a new name makes a new slug, and the old slug still works')
    .argument('<server>', 'id or slug')
    .option('--name <name>')
    .option('--address <host>')
    .option('--port <port>', '', portOption)
    .option('--query-port <port>', 'a port, or none', portOrNone)
    .option('--second-address <host>', 'of the other edition of Minecraft, or none')
    .option('--second-port <port>', '', portOption)
    .option('--game <game>', 'a game (see “server games”), or none')
    .option('--country <code>', 'a country code, or none')
    .option('--premium')
    .option('--no-premium')
    .addHelpText('after', examples(terminal, 'server edit alpha-craft --port 25566 --country none'))
    .action(withDeps(terminal, edit, { check: requireChanges }));

  addServerCheckCommand(server, terminal);

  server
    .command('transfer')
    .description(
      'give a server to a user; the tokens and members of an earlier owner end, the vote listener stays',
    )
    .argument('<server>', 'id or slug')
    .requiredOption('--email <address>', 'the address of the new owner’s account')
    .addHelpText('after', examples(terminal, 'server transfer alpha-craft --email olivia@example.org'))
    .action(withDeps(terminal, transfer));

  server
    .command('remove')
    .description('remove a server for ever: its tokens are refused and its waiting votes fail')
    .argument('<server>', 'id or slug')
    .option('--yes', 'do not ask for confirmation')
    .addHelpText(
      'after',
      examples(terminal, 'server remove alpha-craft', 'server remove alpha-craft --yes --json'),
    )
    .action(withDeps(terminal, remove));

  addServerPauseCommands(server, terminal);
  addGamesCommand(server, terminal);
}

type AddOptions = {
  name: string;
  address: string;
  port: number;
  queryPort?: number;
  secondAddress?: string;
  secondPort?: number;
  game?: string;
  country?: string;
  premium?: boolean;
};

async function add(session: Session, { country, premium, ...rest }: AddOptions): Promise<Answer> {
  const input = { ...rest, countryCode: country, isPremium: premium };
  const { serverId, slug } = await addServer(session, input, BY);
  const { address, game } = await requireServer(session, serverId);
  const { terminal, config } = session;
  const { env } = terminal;
  const warning = hostWarning(address, config);
  if (warning) say(terminal, `Warning: ${warning}`);
  return {
    json: { server_id: serverId, slug, ...(warning ? { warning } : {}) },
    text: [
      `Listed as ${slug}, with the id ${serverId}.`,
      game && !isProbed(game)
        ? `Its game is ${knownGame(game).name} (${game}). Its servers are not probed: ${whyNotProbed(game)}. It depends on its own reports.`
        : game
          ? `Its game is ${knownGame(game).name} (${game}). Check that it answers: ${invocation(`server check ${slug}`, env)}`
          : `It has no game, so it is not probed and depends on its own reports. To set a game: ${invocation(`server edit ${slug} --game minecraft`, env)}`,
      `Next: ${invocation(`token issue ${slug}`, env)}`,
      `Then: ${invocation(`listener set ${slug} --help`, env)}`,
    ].join('\n'),
  };
}

async function list(deps: AppDeps, options: { removed?: boolean }): Promise<Answer> {
  const servers = await listServers(deps, { removed: options.removed === true });
  const now = deps.clock.now();
  const owners = await ownersOf(deps, servers);
  const ownerOf = ({ ownerId }: Server) => (ownerId && owners.get(ownerId.toHexString())) || null;
  const rows = servers.map((server) => [
    server.removedAt || server.hiddenAt ? '-' : server.rankPosition,
    server.slug,
    server.name,
    addressesText(server),
    server.removedAt
      ? 'removed'
      : `${pauseAt(server, now) ? 'paused' : statusAt(server, now)}${server.hiddenAt ? ', hidden' : ''}`,
    ownerOf(server) ?? '-',
    server._id.toHexString(),
  ]);
  return {
    json: { servers: servers.map((server) => serverJson(server, now, ownerOf(server))) },
    text: table(
      ['RANK', 'SLUG', 'NAME', 'ADDRESS', 'STATUS', 'OWNER', 'ID'],
      rows,
      'No server is listed yet.',
    ),
  };
}

async function show(deps: AppDeps, text: string): Promise<Answer> {
  const server = await requireServer(deps, text, { removed: true });
  const { _id: serverId } = server;
  const [figures, listener, tokens, owner] = await Promise.all([
    voteFigures(deps, serverId),
    deps.listeners.findOne({ serverId }),
    deps.apiTokens.countDocuments({ serverId, revokedAt: null }),
    ownerEmail(deps, server),
  ]);
  const state = listener ? listenerState(listener) : null;
  const now = deps.clock.now();
  const { votesCount, monthlyVotes, allTimeVotes } = figures;
  return {
    json: {
      ...serverJson(server, now, owner),
      votes_count: votesCount,
      monthly_votes: monthlyVotes,
      all_time_votes: allTimeVotes,
      listener_state: state,
      tokens,
      how_to_vote: server.howToVote ?? null,
      profile: profileRecord(server.profile),
    },
    text: serverText({ server, figures, listener: state, tokens, owner }, now),
  };
}

type EditOptions = Partial<Omit<AddOptions, 'queryPort'>> & { queryPort?: number | 'none' };

function requireChanges(_server: string, changes: EditOptions): void {
  if (Object.keys(changes).length === 0) {
    throw wrongUse('Give at least one option to change. Add --help to see the options.');
  }
}

function unlessNone<T>(value: T): Exclude<T, 'none'> | null {
  return value === 'none' ? null : (value as Exclude<T, 'none'>);
}

async function edit(
  deps: AppDeps,
  text: string,
  { queryPort, secondAddress, game, country, premium, ...rest }: EditOptions,
): Promise<Answer> {
  const changes = {
    ...rest,
    queryPort: unlessNone(queryPort),
    secondAddress: unlessNone(secondAddress),
    game: unlessNone(game),
    countryCode: unlessNone(country),
    isPremium: premium,
  };
  const { _id } = await requireServer(deps, text);
  const edited = await editServer(deps, _id, changes, BY);
  if (!edited) throw noLongerListed(text);
  const json = serverJson(edited, deps.clock.now(), await ownerEmail(deps, edited));
  return { json, text: `Changed ${edited.slug}.` };
}

async function transfer(deps: AppDeps, text: string, { email }: { email: string }): Promise<Answer> {
  const { _id, slug } = await requireServer(deps, text);
  const user = await nextOwner(deps, email);
  const given = await transferServer(deps, _id, user, BY);
  if (!given) throw noLongerListed(text);
  const { revokedTokens } = given;
  return {
    json: { server_id: _id.toHexString(), slug, owner_email: user.email, revoked_tokens: revokedTokens },
    text: [
      `${slug} now belongs to ${user.email}.`,
      ...(revokedTokens > 0
        ? [`Revoked: ${countWithNoun(revokedTokens, 'token')} of the earlier owner.`]
        : []),
    ].join(' '),
  };
}

async function remove(session: Session, text: string, options: { yes?: boolean }): Promise<Answer> {
  // Removed servers are found too: if a removal was interrupted, running the command again completes it.
  const server = await requireServer(session, text, { removed: true });
  if (!server.removedAt && !options.yes)
    await requireYes(
      session.terminal,
      `Remove “${server.name}” (${server.slug}) for ever?`,
      'Removing a server cannot be undone. Add --yes to do it without confirmation.',
    );
  const removed = await removeServer(session, server._id, BY);
  if (!removed) throw new CommandError('server-not-found', `The server “${text}” no longer exists.`);
  return {
    json: {
      server_id: server._id.toHexString(),
      slug: server.slug,
      removed_at: iso(removed.server.removedAt),
      failed_votes: removed.failedVotes,
    },
    text: removedText(server, removed.failedVotes, session.clock.now()),
  };
}

/** `removedAt`: of the server before the removal. */
function removedText({ slug, removedAt }: Server, failedVotes: number, now: Date): string {
  const failed = `${countWithNoun(failedVotes, 'waiting vote')} failed.`;
  if (!removedAt) return `Removed ${slug}; ${failed}`;
  const already = `${slug} was already removed: ${when(removedAt, now)}`;
  return failedVotes === 0 ? `${already}.` : `${already}; ${failed}`;
}
