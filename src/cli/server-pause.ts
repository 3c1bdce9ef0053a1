import type { Command } from 'commander';
import type { AppDeps } from '../process/app-deps.ts';
import {
  type ListingPause,
  LONGEST_PAUSE_TEXT,
  MOST_PAUSES,
  PAUSE_DAYS,
  type Pausable,
  pauseAt,
} from '../servers/listing-pause.ts';
import {
  type PauseInput,
  type PauseRefusal,
  pauseListing,
  resumeListing,
} from '../workflows/pause-listing.ts';
import { type Answer, withDeps } from './answer.ts';
import { CommandError } from './failure.ts';
import { BY, noLongerListed, requireServer } from './find.ts';
import { examples } from './invocation.ts';
import { moment } from './option-values.ts';
import { iso, utc } from './output-format.ts';
import type { Terminal } from './terminal.ts';

export function addServerPauseCommands(server: Command, terminal: Terminal): void {
  server
    .command('pause')
    .description('pause the listing, or change its pause: no votes, no checks, no uptime')
    .argument('<server>', 'id or slug')
    .option('--until <time>', 'when it ends by itself; without it, no date', moment)
    .option(
      '--text <sentence>',
      `what players read, up to ${LONGEST_PAUSE_TEXT} characters; without it, none`,
    )
    .addHelpText(
      'after',
      examples(terminal, 'server pause alpha-craft --until 2026-12-24 --text "The next season begins then."'),
    )
    .action(withDeps(terminal, pause));

  server
    .command('resume')
    .description('end the pause of the listing; the server is checked at once')
    .argument('<server>', 'id or slug')
    .addHelpText('after', examples(terminal, 'server resume alpha-craft'))
    .action(withDeps(terminal, resume));
}

async function pause(deps: AppDeps, name: string, input: PauseInput): Promise<Answer> {
  const { _id, slug } = await requireServer(deps, name);
  const paused = await pauseListing(deps, _id, input, BY);
  if (paused.kind !== 'paused') throw refusal(name, paused);
  const { pause: present, isNew } = paused;
  return {
    json: { server_id: _id.toHexString(), slug, ...pauseFields(present), is_new: isNew },
    text: `${isNew ? 'Paused' : 'Changed the pause of'} ${slug}: ${pauseText(present)}.`,
  };
}

async function resume(deps: AppDeps, name: string): Promise<Answer> {
  const { _id, slug } = await requireServer(deps, name);
  const ended = await resumeListing(deps, _id, BY);
  if (!ended) throw new CommandError('not-paused', `${slug} is not paused.`);
  return {
    json: { server_id: _id.toHexString(), slug, paused_since: iso(ended.at) },
    text: `${slug} is listed again after a pause since ${utc(ended.at)}. It is checked at once.`,
  };
}

function refusal(name: string, refused: PauseRefusal): CommandError {
  switch (refused.kind) {
    case 'not-listed':
      return noLongerListed(name);
    case 'offline':
      return new CommandError(
        'server-offline',
        `${name} is offline: its downtime counts, so no pause begins.`,
      );
    case 'not-known':
      return new CommandError(
        'status-unknown',
        `The last check of ${name} failed, or its next one has not ended yet. A pause begins only while it is known to be online.`,
      );
    case 'too-many':
      return new CommandError(
        'too-many-pauses',
        `${name} was paused ${MOST_PAUSES} times in ${PAUSE_DAYS} days. The next pause can begin at ${utc(refused.nextAt)}.`,
      );
  }
}

function pauseFields({ at, until, text }: ListingPause) {
  return { paused_since: iso(at), paused_until: iso(until ?? null), pause_text: text ?? null };
}

function pauseText({ at, until, text }: ListingPause): string {
  return `since ${utc(at)}, ${until ? `until ${utc(until)}` : 'without a date'}${text ? `; “${text}”` : ''}`;
}

/** For `server show` and `server list`; null without a pause. */
export function shownPause(server: Pausable, now: Date): string | null {
  const present = pauseAt(server, now);
  return present && pauseText(present);
}

/** All null without a pause. */
export function pauseJson(server: Pausable, now: Date): object {
  const present = pauseAt(server, now);
  return present ? pauseFields(present) : { paused_since: null, paused_until: null, pause_text: null };
}
