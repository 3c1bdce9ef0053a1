import type { Command } from 'commander';
import { heldByRestore, sendRestoredVotes } from '../delivery/restored-votes.ts';
import { sum } from '../votes/vote-counts.ts';
import { type Answer, withDeps } from './answer.ts';
import { BY, requireServer } from './find.ts';
import { examples } from './invocation.ts';
import { countWithNoun } from './output-format.ts';
import { withProgress } from './progress-bar.ts';
import type { Session } from './session.ts';
import { table } from './table.ts';
import type { Terminal } from './terminal.ts';

export function addResendRestoredCommand(vote: Command, terminal: Terminal): void {
  vote
    .command('resend-restored')
    .description('send the votes that a restore holds back; those that arrived before arrive twice')
    .argument('[server]', 'id or slug: only of this one')
    .option('--list', 'only show how many votes are held back, by server')
    .addHelpText(
      'after',
      examples(terminal, 'vote resend-restored --list', 'vote resend-restored alpha-craft'),
    )
    .action(withDeps(terminal, resendRestored, { wakes: true, longRun: true }));
}

async function resendRestored(
  session: Session,
  text: string | undefined,
  { list = false }: { list?: boolean },
): Promise<Answer> {
  const server = text === undefined ? undefined : await requireServer(session, text);
  const held = await heldByRestore(session, server?._id);
  if (list) return listed(session, held);
  const sent = await withProgress(session.terminal, 'Resending', 'servers', (progress) =>
    sendRestoredVotes(session, held, BY, progress),
  );
  const votes = sum(sent.map(({ resent }) => resent?.resent ?? 0));
  const withoutListener = sent.filter(({ resent }) => !resent).length;
  const more = sent.some(({ resent }) => resent?.more);
  return {
    json: {
      servers: sent.map(({ serverId, resent }) => ({
        server_id: serverId.toHexString(),
        resent: resent?.resent ?? 0,
        has_listener: resent !== null,
      })),
      resent: votes,
      more,
    },
    text: [
      votes === 0
        ? 'No vote was sent: none is held back by a restore.'
        : `${countWithNoun(votes, 'vote')} of ${countWithNoun(sent.length - withoutListener, 'server')} in the queue again. They may arrive twice.`,
      ...(withoutListener > 0
        ? [
            `${countWithNoun(withoutListener, 'server')} with held votes ${withoutListener === 1 ? 'has' : 'have'} no vote listener.`,
          ]
        : []),
      ...(more ? ['There are more votes: run the command again.'] : []),
    ].join('\n'),
  };
}

async function listed(session: Session, held: Awaited<ReturnType<typeof heldByRestore>>): Promise<Answer> {
  const ids = held.map(({ serverId }) => serverId);
  const servers = await session.servers.find({ _id: { $in: ids } }, { projection: { slug: 1 } }).toArray();
  const slugs = new Map(servers.map(({ _id, slug }) => [_id.toHexString(), slug]));
  const nameOf = (id: string) => slugs.get(id) ?? id;
  return {
    json: held.map(({ serverId, votes }) => {
      const id = serverId.toHexString();
      return { server_id: id, slug: nameOf(id), votes };
    }),
    text: table(
      ['Server', 'Votes'],
      held.map(({ serverId, votes }) => [nameOf(serverId.toHexString()), String(votes)]),
      'No vote is held back by a restore.',
    ),
  };
}
