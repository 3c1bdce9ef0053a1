import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { CodedError } from '../platform/app-error.ts';

/** A restore refuses other versions of the format. */
const FORMAT = 1;

/** Short-lived records, links that were sent by mail, uploads (a photo may tell a place), and what is made anew. */
const LEFT_OUT = new Set([
  'sessions',
  'verifications',
  'work_leases',
  'processes',
  'rate_limits',
  'used_proofs',
  'picture_uploads',
  'logo_uploads',
  'preview_cards',
  'banner_pictures',
  'restores',
]);

export function isBackedUp(name: string): boolean {
  return !name.startsWith('system.') && !LEFT_OUT.has(name);
}

/** The options that a restore sets when it creates a collection. */
const OPTIONS = [
  'timeseries',
  'expireAfterSeconds',
  'clusteredIndex',
  'collation',
  'capped',
  'size',
  'max',
  'validator',
  'validationLevel',
  'validationAction',
  'changeStreamPreAndPostImages',
] as const;

export function restorableOptions(options: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(OPTIONS.flatMap((name) => (name in options ? [[name, options[name]]] : [])));
}

const collectionSchema = z.object({
  name: z.string().refine((name) => isBackedUp(name), { error: 'is not part of a backup' }),
  /** The options of `createCollection`, as Extended JSON. */
  options: z.partialRecord(z.enum(OPTIONS), z.unknown()),
  documents: z.int().nonnegative(),
  /** gzip of BSON documents one after another */
  file: z.string().regex(/^[\w.~!*'()%-]+\.bson\.gz$/),
  bytes: z.int().nonnegative(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
});

const manifestSchema = z
  .object({
    format: z.literal(FORMAT),
    id: z.uuid(),
    version: z.string(),
    database: z.string(),
    startedAt: z.iso.datetime(),
    finishedAt: z.iso.datetime(),
    /** Whether all collections were read at one moment. */
    isSnapshot: z.boolean(),
    /** Encrypted with `SECRET_KEY`. A restore decrypts it to find out whether it has the same key. */
    seal: z.string(),
    migrations: z.array(z.string()),
    collections: z.array(collectionSchema),
  })
  .refine(({ collections }) => new Set(collections.map(({ name }) => name)).size === collections.length, {
    path: ['collections'],
    error: 'has a name twice',
  });

export type Manifest = z.infer<typeof manifestSchema>;
export type BackupCollection = z.infer<typeof collectionSchema>;

export class BackupError extends CodedError<
  | 'folder-exists'
  | 'no-backup'
  | 'backup-damaged'
  | 'newer-backup'
  | 'database-not-empty'
  | 'restore-running'
  | 'restore-lost'
  | 'snapshot-too-old'
  | 'counts-differ'
> {}

const NAME = 'manifest.json';

/** @throws {ZodError} when a restore would not accept the manifest */
export function newManifest(manifest: Omit<Manifest, 'format'>): Manifest {
  return manifestSchema.parse({ format: FORMAT, ...manifest });
}

export async function writeManifest(folder: string, manifest: Manifest): Promise<void> {
  const text = `${JSON.stringify(manifest, null, 2)}\n`;
  await writeFile(join(folder, NAME), text, { flag: 'wx', mode: 0o600, flush: true });
}

/** @throws {BackupError} `no-backup`, `newer-backup`, `backup-damaged` */
export async function readManifest(folder: string): Promise<Manifest> {
  if (!(await stat(folder).catch(() => null))?.isDirectory())
    throw new BackupError('no-backup', `There is no folder “${folder}”.`);
  const text = await readFile(join(folder, NAME), 'utf8').catch((error: NodeJS.ErrnoException) => {
    const why = error.code === 'ENOENT' ? 'it has no manifest.json' : error.message;
    throw new BackupError('no-backup', `“${folder}” is not a complete backup: ${why}.`);
  });
  try {
    const content = JSON.parse(text);
    if (Number.isInteger(content?.format) && content.format !== FORMAT) {
      throw new BackupError(
        'newer-backup',
        `The backup has the format ${content.format}, and this version reads format ${FORMAT}.`,
      );
    }
    return manifestSchema.parse(content);
  } catch (error) {
    if (error instanceof BackupError) throw error;
    throw new BackupError(
      'backup-damaged',
      `The file ${NAME} of “${folder}” is damaged: ${reasonOf(error)}.`,
    );
  }
}

/** If several fields are wrong, the reason names the first of them. */
function reasonOf(error: unknown): string {
  if (error instanceof SyntaxError) return 'it is not JSON';
  const [issue] = error instanceof z.ZodError ? error.issues : [];
  if (!issue) return String(error);
  if (issue.path.length === 0) return 'it is not a JSON object';
  return `its field “${z.core.toDotPath(issue.path)}” is wrong (${issue.message})`;
}
