import type { Command } from 'commander';
import { BackupError, type Manifest } from '../backup/manifest.ts';
import { checkBackup, hasSecretKey, type Restored, restoreBackup } from '../backup/restore-backup.ts';
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
    .action(onPlatform(terminal, backup, { unlimited: true }));
  program
    .command('restore')
    .description(
      'restore a backup into an empty database; votes that were open are held back until you send them',
    )
    .argument('<folder>', 'what `backup` wrote')
    .option('--dry-run', 'only check the backup')
    .addHelpText('after', examples(terminal, 'restore /var/backups/tallyport-2026-11-23'))
    .action(onPlatform(terminal, restore, { migrates: true, unlimited: true }));
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
  const hasKey = hasSecretKey(session, manifest);
  if (dryRun) return checked(manifest, hasKey);
  const restored = await withProgress(terminal, 'Restoring', 'documents', (progress) =>
    restoreBackup(session, folder, manifest, { by: BY, progress }),
  );
  return { json: jsonOf(manifest, restored, hasKey), text: textOf(manifest, restored, hasKey) };
}

/** The error of the file system in a sentence; other errors as they are. */
function unusable(folder: string, how: 'read' | 'written', error: unknown): unknown {
  if (error instanceof BackupError || !(error instanceof Error && 'syscall' in error)) return error;
  return new CommandError(
    'folder-unusable',
    sentence(`«${folder}» cannot be ${how}: ${systemReason(error)}`),
  );
}

const OTHER_KEY =
  'SECRET_KEY is not the key of the backup: without that key, owners must set their listeners and webhooks again.';

function checked({ id, startedAt, version, isSnapshot, collections }: Manifest, hasKey: boolean): Answer {
  const documents = sumOf(collections.map((one) => one.documents));
  return {
    json: {
      dry_run: true,
      id,
      taken_at: startedAt,
      version,
      snapshot: isSnapshot,
      documents,
      secret_key: hasKey,
    },
    text: [
      `The backup is whole: ${counted(documents, 'document')} of ${counted(collections.length, 'collection')}, the state of ${utc(new Date(startedAt))}, by version ${version}.`,
      ...(hasKey ? [] : [OTHER_KEY]),
    ].join('\n'),
  };
}

function jsonOf({ id, startedAt }: Manifest, restored: Restored, hasKey: boolean): object {
  const { documents, heldVotes, droppedMessages, repeatedDeletions, migrated } = restored;
  return {
    id,
    taken_at: startedAt,
    documents,
    held_votes: heldVotes,
    dropped_messages: droppedMessages,
    repeated_deletions: repeatedDeletions,
    ...migrated,
    secret_key: hasKey,
  };
}

function textOf({ startedAt }: Manifest, restored: Restored, hasKey: boolean): string {
  const { documents, heldVotes, droppedMessages, repeatedDeletions, migrated } = restored;
  const [were, them] = heldVotes === 1 ? ['was', 'it'] : ['were', 'them'];
  return [
    `${counted(documents, 'document')} restored: the state of ${utc(new Date(startedAt))}.`,
    ...(migrated.ran.length > 0 ? [`Migrations of this version: ${migrated.ran.join(', ')}.`] : []),
    heldVotes === 0
      ? 'No vote was open in the backup.'
      : `${counted(heldVotes, 'vote')} ${were} open in the backup and may have been delivered since: held back. \`vote resend-restored\` sends ${them}.`,
    ...(droppedMessages > 0
      ? [`${counted(droppedMessages, 'waiting message')} of the backup will not be sent.`]
      : []),
    ...(repeatedDeletions > 0
      ? [
          `${counted(repeatedDeletions, 'account')} waited to be deleted: their users have seven days again to keep them, and are told by mail if mail is set up.`,
        ]
      : []),
    'Everybody must sign in again. What was revoked, removed or suspended since the backup is back: look through it before you open the site.',
    ...(hasKey ? [] : [OTHER_KEY]),
  ].join('\n');
}

function sumOf(numbers: number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}
