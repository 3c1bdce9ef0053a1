import { resolve } from 'node:path';
import type { Command } from 'commander';
import { DELETION_DELAY_DAYS } from '../accounts/deletion/request-deletion.ts';
import { BackupError, type Manifest } from '../backup/manifest.ts';
import { checkBackup, hasSecretKey, type Restored, restoreBackup } from '../backup/restore-backup.ts';
import { DEAD_MS } from '../backup/restore-run.ts';
import { takeBackup } from '../backup/take-backup.ts';
import { readSecretKey } from '../own-services/secret-key.ts';
import { SECOND } from '../platform/clock.ts';
import { loadConfig } from '../platform/config.ts';
import { createSecretBox } from '../platform/secrets.ts';
import { sum } from '../votes/vote-counts.ts';
import { type Answer, printAnswer, withDeps } from './answer.ts';
import { CommandError, wrongUse } from './failure.ts';
import { BY } from './find.ts';
import { examples, invocation } from './invocation.ts';
import { countWithNoun, sentence, systemReason, utc } from './output-format.ts';
import { withProgress } from './progress-bar.ts';
import type { Session } from './session.ts';
import type { Terminal } from './terminal.ts';

const BACKUP_INTERRUPTED = 'Interrupted: there is no backup. Delete the folder that ends in “.incomplete-…”.';
const RESTORE_INTERRUPTED = `Interrupted: the restore has not ended. Run the same command again in ${DEAD_MS / SECOND} seconds: it starts anew.`;

export function addBackupCommand(command: Command, terminal: Terminal): void {
  command
    .argument('<folder>', 'it must not exist; it appears when the backup is complete', newFolder)
    .option(
      '--no-snapshot',
      'read the collections one after another, also where MongoDB could give one moment of all',
    )
    .addHelpText('after', examples(terminal, 'backup /var/backups/tallyport-2026-11-23'))
    .action(
      withDeps(terminal, backup, { database: 'whole', unlimited: true, interrupted: BACKUP_INTERRUPTED }),
    );
}

export function addRestoreCommand(command: Command, terminal: Terminal): void {
  const restoring = withDeps(terminal, restore, {
    database: 'any',
    unlimited: true,
    interrupted: RESTORE_INTERRUPTED,
  });
  command
    .argument('<folder>', 'what `backup` wrote', (text: string) => resolve(text))
    .option('--dry-run', 'only check the backup, without a database')
    .option('--without-secret-key', 'restore although SECRET_KEY is not the key of the backup')
    .addHelpText('after', examples(terminal, 'restore /var/backups/tallyport-2026-11-23'))
    .action(async (folder: string, options: RestoreOptions) => {
      if (!options.dryRun) return restoring(folder, options, command);
      const { SECRET_KEY, SECRET_KEY_PREVIOUS, DATA_DIR } = loadConfig(terminal.env);
      const manifest = await checked(terminal, folder);
      const key = SECRET_KEY ?? (await readSecretKey(resolve(DATA_DIR)));
      const secrets = key ? createSecretBox(key, SECRET_KEY_PREVIOUS) : null;
      return printAnswer(terminal, described(manifest, secrets && hasSecretKey(secrets, manifest)), command);
    });
}

type RestoreOptions = { dryRun?: boolean; withoutSecretKey?: boolean };

function newFolder(text: string): string {
  if (text === '') throw wrongUse('The name of the folder is empty.');
  return resolve(text);
}

async function backup(
  session: Session,
  folder: string,
  { snapshot }: { snapshot: boolean },
): Promise<Answer> {
  await refuseNothing(session);
  const { id, collections, isSnapshot, startedAt, finishedAt } = await withProgress(
    session.terminal,
    'Saving',
    'documents',
    (progress) => takeBackup(session, folder, { noSnapshot: !snapshot, progress }),
  ).catch((error: unknown) => {
    throw unusable(folder, 'written', error);
  });
  const documents = sum(collections.map((one) => one.documents));
  const bytes = sum(collections.map((one) => one.bytes));
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
      `${countWithNoun(documents, 'document')} of ${countWithNoun(collections.length, 'collection')} saved in “${folder}” (${sizeOf(bytes)}).`,
      moment,
      'The backup has personal data and password hashes, so store it like the database. SECRET_KEY is not in it (with `npm start` it is the file secret-key in DATA_DIR): store that elsewhere.',
    ].join('\n'),
  };
}

/** Refuses an empty database: it is probably the wrong one, and only a restore would show the mistake. */
async function refuseNothing({ servers, users, mongo }: Session): Promise<void> {
  if ((await servers.findOne({})) || (await users.findOne({}))) return;
  throw new CommandError(
    'nothing-to-back-up',
    `The database “${mongo.db.databaseName}” has no server and no account: there is nothing to back up. Is MONGODB_URI, or DATA_DIR, the right one?`,
  );
}

function sizeOf(bytes: number): string {
  return bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} KB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

async function restore(
  session: Session,
  folder: string,
  { withoutSecretKey = false }: RestoreOptions,
): Promise<Answer> {
  const { terminal, secrets } = session;
  const manifest = await checked(terminal, folder);
  const hasKey = hasSecretKey(secrets, manifest);
  if (!hasKey && !withoutSecretKey) {
    throw new CommandError(
      'other-secret-key',
      `${OTHER_KEY} Set SECRET_KEY, or SECRET_KEY_PREVIOUS, to that key, here and for all processes. With \`npm start\` it is the file secret-key of the old DATA_DIR: copy it into the new one. To restore without it, use --without-secret-key.`,
    );
  }
  const restored = await withProgress(terminal, 'Restoring', 'documents', (progress) =>
    restoreBackup(session, folder, manifest, { by: BY, progress }),
  );
  return { json: jsonOf(manifest, restored, hasKey), text: textOf(manifest, restored, hasKey, terminal) };
}

function checked(terminal: Terminal, folder: string): Promise<Manifest> {
  return withProgress(terminal, 'Checking', 'bytes', (progress) => checkBackup(folder, progress)).catch(
    (error: unknown) => {
      throw unusable(folder, 'read', error);
    },
  );
}

function unusable(folder: string, how: 'read' | 'written', error: unknown): unknown {
  if (error instanceof BackupError || !(error instanceof Error && 'syscall' in error)) return error;
  return new CommandError(
    'folder-unusable',
    sentence(`“${folder}” cannot be ${how}: ${systemReason(error)}`),
  );
}

const OTHER_KEY =
  'SECRET_KEY is not the key of the backup: listeners, Discord webhooks and second factors cannot be read.';

function described(
  { id, startedAt, version, isSnapshot, collections }: Manifest,
  hasKey: boolean | null,
): Answer {
  const documents = sum(collections.map((one) => one.documents));
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
      `The backup is whole: ${countWithNoun(documents, 'document')} of ${countWithNoun(collections.length, 'collection')}, the state of ${utc(new Date(startedAt))}, by version ${version}.`,
      hasKey === null
        ? 'SECRET_KEY is not set, and DATA_DIR has none: it was not compared with the key of the backup.'
        : hasKey
          ? 'SECRET_KEY is the key of the backup.'
          : OTHER_KEY,
    ].join('\n'),
    ...(hasKey === false ? { exitCode: 1 } : {}),
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

function textOf({ startedAt }: Manifest, restored: Restored, hasKey: boolean, terminal: Terminal): string {
  const resend = invocation('vote resend-restored', terminal.env);
  const { documents, heldVotes, droppedMessages, repeatedDeletions, migrated } = restored;
  const [were, them] = heldVotes === 1 ? ['was', 'it'] : ['were', 'them'];
  return [
    `${countWithNoun(documents, 'document')} restored: the state of ${utc(new Date(startedAt))}.`,
    ...(migrated.migrations.length > 0
      ? [`Migrations of this version: ${migrated.migrations.join(', ')}.`]
      : []),
    heldVotes === 0
      ? 'No vote was open in the backup.'
      : `${countWithNoun(heldVotes, 'vote')} ${were} open in the backup and may have been delivered since: held back. To list ${them}: ${resend} --list. To send ${them}, at the risk that they arrive twice: ${resend}`,
    ...(droppedMessages > 0
      ? [`${countWithNoun(droppedMessages, 'waiting message')} of the backup will not be sent.`]
      : []),
    ...(repeatedDeletions > 0
      ? [
          `${countWithNoun(repeatedDeletions, 'account')} waited to be deleted: their users have ${DELETION_DELAY_DAYS} days again to keep them, and are told by mail if mail is set up.`,
        ]
      : []),
    'Everybody must sign in again. What was revoked, removed or suspended since the backup is back: look through the listing before you open it.',
    ...(hasKey ? [] : [OTHER_KEY]),
  ].join('\n');
}
