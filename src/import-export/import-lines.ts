import type { z } from 'zod';
import type { Progress } from '../platform/progress.ts';
import { type Line, readLines } from './line-reader.ts';
import type { SourceFile } from './source-file.ts';

export type LineResult = 'imported' | 'already-there' | { refused: string };

/** An importer remembers what it has read, so each pass over the file needs a new one. */
export type Importer<T> = {
  /** Its messages do not contain the name of the field. */
  schema: z.ZodType<T>;
  /** Why the database cannot accept a record, or null. Writes nothing. */
  check(batch: T[]): Promise<(string | null)[]>;
  write(batch: T[]): Promise<LineResult[]>;
  finish(): Promise<void>;
};

export type ImportResult = {
  lines: number;
  imported: number;
  alreadyThere: number;
  refused: number;
  refusedLines: { line: number; reason: string }[];
};

const MOST_REFUSED_LINES = 20;

const BATCH = 1_000;

export type ImportOptions = {
  skipBad: boolean;
  dryRun: boolean;
  /** Bytes read, counted over both passes. */
  progress: Progress;
};

/**
 * The first pass checks all lines, the second writes them. If a line is refused, nothing is written, unless `skipBad`
 * is set. An interrupted import can be run again.
 * @throws errors of the driver and the system; the records written until then stay
 */
export async function importLines<T>(
  source: SourceFile,
  openImporter: () => Importer<T>,
  { skipBad, dryRun, progress }: ImportOptions,
): Promise<ImportResult> {
  const readings = dryRun ? 1 : 2;
  const total = readings * source.size;
  const checked = await readOnce(source, openImporter(), { write: false }, (bytes) => progress(bytes, total));
  if (dryRun || (checked.refused > 0 && !skipBad)) return checked;
  const importer = openImporter();
  const result = await readOnce(source, importer, { write: true }, (bytes) =>
    progress(source.size + bytes, total),
  );
  await importer.finish();
  return result;
}

type Numbered<T> = { number: number; record: T };

async function readOnce<T>(
  source: SourceFile,
  importer: Importer<T>,
  { write }: { write: boolean },
  onProgress: (bytes: number) => void,
): Promise<ImportResult> {
  const result: ImportResult = { lines: 0, imported: 0, alreadyThere: 0, refused: 0, refusedLines: [] };
  let batch: Numbered<T>[] = [];
  let refusals: [number, string][] = [];

  const finishBatch = async (bytesRead: number) => {
    refusals.push(...(await takeBatch(importer, batch, write, result)));
    for (const [line, reason] of refusals.toSorted(([one], [other]) => one - other)) {
      result.refused += 1;
      if (result.refusedLines.length < MOST_REFUSED_LINES) result.refusedLines.push({ line, reason });
    }
    batch = [];
    refusals = [];
    onProgress(bytesRead);
  };

  for await (const line of readLines(source.read())) {
    result.lines += 1;
    const parsed = parseLine(importer.schema, line);
    if ('reason' in parsed) refusals.push([line.number, parsed.reason]);
    else batch.push({ number: line.number, record: parsed.record });
    if (batch.length + refusals.length >= BATCH) await finishBatch(line.bytesRead);
  }
  await finishBatch(source.size);
  return result;
}

async function takeBatch<T>(
  importer: Importer<T>,
  batch: Numbered<T>[],
  write: boolean,
  total: ImportResult,
): Promise<[number, string][]> {
  if (batch.length === 0) return [];
  const refusals: [number, string][] = [];
  const reasons = await importer.check(batch.map(({ record }) => record));
  const valid = batch.filter(({ number }, index) => {
    const reason = reasons[index];
    if (reason) refusals.push([number, reason]);
    return !reason;
  });
  if (!write || valid.length === 0) return refusals;
  const results = await importer.write(valid.map(({ record }) => record));
  for (const [index, { number }] of valid.entries()) {
    const result = results[index];
    if (result === 'imported') total.imported += 1;
    else if (result === 'already-there') total.alreadyThere += 1;
    else if (result) refusals.push([number, result.refused]);
  }
  return refusals;
}

function parseLine<T>(schema: z.ZodType<T>, line: Line): { record: T } | { reason: string } {
  if ('error' in line) return { reason: line.error };
  let value: unknown;
  try {
    value = JSON.parse(line.text);
  } catch {
    return { reason: 'it is not a JSON value' };
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return { record: parsed.data };
  const [issue] = parsed.error.issues;
  const field = String(issue?.path[0] ?? '');
  const message = issue?.message ?? 'it cannot be read';
  return { reason: field !== '' && message.startsWith('must ') ? `${field} ${message}` : message };
}
