import type { Command } from 'commander';
import type { AppDeps } from '../process/app-deps.ts';
import type { Server } from '../servers/server.ts';
import { nextOwner, transferServer } from '../workflows/transfer-server.ts';
import { type Answer, withDeps } from './answer.ts';
import { CommandError } from './failure.ts';
import { BY, requireServer } from './find.ts';
import { examples } from './invocation.ts';
import { countWithNoun } from './output-format.ts';
import type { Terminal } from './terminal.ts';

export function addServerTransferCommand(server: Command, terminal: Terminal): void {
  server
    .command('transfer')
    .description(
      'give a server to a user; the tokens and members of an earlier owner end, the vote listener stays',
    )
    .argument('<server>', 'id or slug')
    .requiredOption('--email <address>', 'the address of the new owner’s account')
    .addHelpText('after', examples(terminal, 'server transfer alpha-craft --email olivia@example.org'))
    .action(withDeps(terminal, transfer));
}

async function transfer(deps: AppDeps, text: string, { email }: { email: string }): Promise<Answer> {
  const { _id, slug } = await requireServer(deps, text);
  const user = await nextOwner(deps, email);
  const given = await transferServer(deps, _id, user, BY);
  // `given` is null if the server was removed in the meantime.
  if (!given) throw new CommandError('server-not-found', `The server “${text}” is no longer listed.`);
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

export async function ownerEmail(deps: AppDeps, server: Server): Promise<string | null> {
  const { ownerId } = server;
  return (ownerId && (await ownersOf(deps, [server])).get(ownerId.toHexString())) || null;
}

export async function ownersOf({ users }: AppDeps, servers: Server[]): Promise<Map<string, string>> {
  const ids = servers.flatMap(({ ownerId }) => (ownerId ? [ownerId] : []));
  const found = users.find({ _id: { $in: ids } }, { projection: { email: 1 } });
  return new Map(await found.map(({ _id, email }): [string, string] => [_id.toHexString(), email]).toArray());
}
