import type { Command } from 'commander';
import { type LiveMessage, STOP_TEXTS } from '../events/live-status/live-message.ts';
import {
  readLiveMessage,
  removeLiveMessage,
  restartLiveMessage,
  setLiveMessage,
} from '../events/live-status/live-messages.ts';
import { t } from '../language/t.ts';
import type { Server } from '../servers/server.ts';
import { type Answer, withDeps } from './answer.ts';
import { CommandError } from './failure.ts';
import { BY, requireServer } from './find.ts';
import { examples } from './invocation.ts';
import { iso, when } from './output-format.ts';
import type { Session } from './session.ts';
import { WEBHOOK_OPTION } from './subscription.ts';
import { pairs } from './table.ts';
import type { Terminal } from './terminal.ts';
import { typedSecret } from './typed-secret.ts';

export function addLiveStatusCommands(liveStatus: Command, terminal: Terminal): void {
  const command = (name: string, description: string, more = '') =>
    liveStatus
      .command(name)
      .description(description)
      .argument('<server>', 'id or slug')
      .addHelpText('after', examples(terminal, `live-status ${name} alpha-craft${more}`));

  command(
    'set',
    'begin a live status; the message of an earlier one is deleted',
    ' --webhook - < webhook.txt',
  )
    .requiredOption(...WEBHOOK_OPTION)
    .action(withDeps(terminal, set, { wakes: true }));
  command('show', 'show the state of the live status').action(withDeps(terminal, show));
  command('restart', 'begin again after it was stopped').action(withDeps(terminal, restart, { wakes: true }));
  command('remove', 'delete the message in Discord').action(withDeps(terminal, remove, { wakes: true }));
}

async function set(session: Session, text: string, { webhook }: { webhook: string }): Promise<Answer> {
  const server = await requireServer(session, text);
  const address = await typedSecret(session.terminal, webhook);
  return answerOf(session, server, await setLiveMessage(session, server._id, address, BY));
}

async function show(session: Session, text: string): Promise<Answer> {
  const server = await requireServer(session, text);
  const live = await readLiveMessage(session, server._id);
  if (!live) throw noLiveStatus(server);
  return answerOf(session, server, live);
}

async function restart(session: Session, text: string): Promise<Answer> {
  const server = await requireServer(session, text);
  const live = await restartLiveMessage(session, server._id, BY);
  if (live) return answerOf(session, server, live);
  if (!(await readLiveMessage(session, server._id))) throw noLiveStatus(server);
  throw new CommandError('not-stopped', `The live status of ${server.slug} is not stopped.`);
}

async function remove(session: Session, text: string): Promise<Answer> {
  const server = await requireServer(session, text);
  if (!(await removeLiveMessage(session, server._id, BY))) throw noLiveStatus(server);
  return {
    json: { server_id: server._id.toHexString(), removed: true },
    text: `The live status of ${server.slug} is removed; a worker deletes its message in Discord.`,
  };
}

function noLiveStatus({ slug }: Server): CommandError {
  return new CommandError('no-live-status', `${slug} has no live status.`);
}

function answerOf({ clock }: Session, { slug }: Server, live: LiveMessage): Answer {
  const { serverId, ending, webhookName, setAt, editedAt, stopped, lastReason } = live;
  const state = stopped ? 'stopped' : lastReason ? 'failing' : live.messageId ? 'works' : 'not-posted';
  const why = stopped && STOP_TEXTS[stopped.reason];
  const now = clock.now();
  return {
    json: {
      server_id: serverId.toHexString(),
      state,
      webhook_name: webhookName ?? null,
      webhook_ending: ending,
      set_at: iso(setAt),
      edited_at: iso(editedAt),
      stopped_at: iso(stopped?.at),
      reason: stopped?.reason ?? lastReason ?? null,
    },
    text: pairs([
      ['Server', slug],
      ['State', state],
      ['Webhook', `${webhookName ?? 'Discord'} …${ending}`],
      ['Set', when(setAt, now)],
      ['Last edit', when(editedAt, now)],
      ['Reason', why ? t(why.why) : (lastReason ?? null)],
      ['What to do', why ? t(why.advice) : null],
    ]),
  };
}
