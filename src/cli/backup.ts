import type { Command } from 'commander';
import { BackupError, type Manifest } from '../backup/manifest.ts';
import { checkBackup, type Restored, restoreBackup } from '../backup/restore-backup.ts';
import { takeBackup } from '../backup/take-backup.ts';
import { type Answer, examples, onPlatform } from './answer.ts';
import { CommandError } from './failure.ts';
import { BY } from './find.ts';
import { counted, sentence, systemReason, utc } from './format.ts';
import { withProgress } from './progress.ts';
import type { Session } from './session.ts';
import type { Terminal } from './terminal.ts';

export function addBackupCommands(program: Command, terminal: Terminal): void {
  program
    .command('backup')
    .description('write all data into a new folder, while the platform runs')
    .argument('<folder>', 'it must not exist; it appears when the backup is complete')
    .option(
      '--no-snapshot',
      'read the collections one after another, also where MongoDB could give one moment of all',
    )
    .addHelpText('after', examples(terminal, 'backup /var/backups/tallyport-2026-11-23'))
    .action(onPlatform(terminal, backup, { longRun: true }));
  program
    .command('restore')
    .description(
      'restore a backup into an empty database; votes that were open are held back until you send them',
    )
    .argument('<folder>', 'what `backup` wrote')
    .option('--dry-run', 'only check the backup')
    .addHelpText('after', examples(terminal, 'restore /var/backups/tallyport-2026-11-23'))
    .action(onPlatform(terminal, restore, { migrates: true, longRun: true }));
}

async function backup(
  session: Session,
  folder: string,
  { snapshot }: { snapshot: boolean },
): Promise<Answer> {
  const { id, collections, isSnapshot, startedAt, finishedAt } = await withProgress(
    session.terminal,
    'Saving',
    'documents',
    (progress) => takeBackup(session, folder, { noSnapshot: !snapshot, progress }),
  ).catch((error: unknown) => {
    throw unusable(folder, 'written', error);
  });
  const documents = sumOf(collections.map((one) => one.documents));
  const bytes = sumOf(collections.map((one) => one.bytes));
  const moment = isSnapshot
    ? `All data is of one moment, ${utc(new Date(startedAt))}.`
    : 'The collections were read one after another: what changed meanwhile may be in some of them only.';
  return {
    json: {
      id,
      folder,
      started_at: startedAt,
      finished_at: finishedAt,
      snapshot: isSnapshot,
      documents,
      bytes,
      collections: Object.fromEntries(collections.map((one) => [one.name, one.documents])),
    },
    text: [
      `${counted(documents, 'document')} of ${counted(collections.length, 'collection')} saved in «${folder}» (${(bytes / 1e6).toFixed(1)} MB).`,
      moment,
      'The backup has personal data and password hashes, so store it like the database. SECRET_KEY is not in it: store that elsewhere.',
    ].join('\n'),
  };
}

async function restore(
  session: Session,
  folder: string,
  { dryRun = false }: { dryRun?: boolean },
): Promise<Answer> {
  const { terminal } = session;
  const manifest = await withProgress(terminal, 'Checking', 'bytes', (progress) =>
    checkBackup(folder, progress),
  ).catch((error: unknown) => {
    throw unusable(folder, 'read', error);
  });
  if (dryRun) return checked(manifest);
  const restored = await withProgress(terminal, 'Restoring', 'documents', (progress) =>
    restoreBackup(session, folder, manifest, { by: BY, progress }),
  );
  return { json: jsonOf(manifest, restored), text: textOf(manifest, restored) };
}

/** The error of the file system in a sentence; other errors as they are. */
function unusable(folder: string, how: 'read' | 'written', error: unknown): unknown {
  if (error instanceof BackupError || !(error instanceof Error && 'syscall' in error)) return error;
  return new CommandError(
    'folder-unusable',
    sentence(`«${folder}» cannot be ${how}: ${systemReason(error)}`),
  );
}

function checked({ id, startedAt, version, isSnapshot, collections }: Manifest): Answer {
  const documents = sumOf(collections.map((one) => one.documents));
  return {
    json: { dry_run: true, id, taken_at: startedAt, version, snapshot: isSnapshot, documents },
    text: `The backup is whole: ${counted(documents, 'document')} of ${counted(collections.length, 'collection')}, the state of ${utc(new Date(startedAt))}, by version ${version}.`,
  };
}

function jsonOf({ id, startedAt }: Manifest, restored: Restored): object {
  const { documents, held, droppedMessages, migrated, hasOtherKey } = restored;
  return {
    id,
    taken_at: startedAt,
    documents,
    held_votes: sumOf(held.map(({ votes }) => votes)),
    held_servers: held.length,
    dropped_messages: droppedMessages,
    ...migrated,
    other_secret_key: hasOtherKey,
  };
}

function textOf({ startedAt }: Manifest, restored: Restored): string {
  const { documents, held, droppedMessages, migrated, hasOtherKey } = restored;
  const votes = sumOf(held.map((one) => one.votes));
  return [
    `${counted(documents, 'document')} restored: the state of ${utc(new Date(startedAt))}.`,
    ...(migrated.ran.length > 0 ? [`Migrations of this version: ${migrated.ran.join(', ')}.`] : []),
    votes === 0
      ? 'No vote was open in the backup.'
      : `${counted(votes, 'vote')} of ${counted(held.length, 'server')} ${votes === 1 ? 'was' : 'were'} open in the backup and may have been delivered since: held back. Send ${votes === 1 ? 'it' : 'them'} with \`tallyport vote resend-restored\`.`,
    ...(droppedMessages > 0
      ? [`${counted(droppedMessages, 'waiting message')} of the backup will not be sent.`]
      : []),
    'Everybody must sign in again. What was revoked, removed or suspended since the backup is back: look through it before you open the site.',
    ...(hasOtherKey
      ? [
          'SECRET_KEY is not the key of the backup: owners must set their listeners and webhooks again, unless you set the right key.',
        ]
      : []),
  ].join('\n');
}

function sumOf(numbers: number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}
