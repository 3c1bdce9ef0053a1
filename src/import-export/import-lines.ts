import type { z } from 'zod';
import type { Progress } from '../platform/progress.ts';
import { type Line, readLines } from './line-reader.ts';
import type { SourceFile } from './source-file.ts';

/** What became of a line: taken in, not taken because it was before, or refused for a reason. */
export type LineResult = 'imported' | 'already-there' | { refused: string };

/** What is imported. One is made for each reading of the file. */
export type Importer<T> = {
  /** A line's JSON value; its messages say what a field must be, without naming it. */
  schema: z.ZodType<T>;
  /** Why each record of a batch cannot be taken as the database is; null where it can. Writes nothing. */
  check(batch: T[]): Promise<(string | null)[]>;
  /** Writes records that `check` let pass; doing it twice is harmless. In the order of the batch. */
  write(batch: T[]): Promise<LineResult[]>;
  /** Computes what follows from all that was written. */
  finish(): Promise<void>;
};

/** How an import ended; lines are counted without empty ones. */
export type ImportResult = {
  lines: number;
  imported: number;
  alreadyThere: number;
  refused: number;
  /** The first of them. */
  refusedLines: { line: number; reason: string }[];
};

/** So many refused lines are told one by one; the rest are counted. */
const REFUSED_LINES_TOLD = 20;

/** So many lines are checked and written together. */
const BATCH = 1_000;

export type ImportOptions = {
  /** Takes what can be taken although other lines are refused. */
  skipBad: boolean;
  /** Reads and checks only. */
  dryRun: boolean;
  /** Hears of bytes, over all readings. */
  progress: Progress;
};

/**
 * Imports the lines of a file. It is read twice: unless all of it can be taken, nothing is written. Killed
 * half-way, it can be run again.
 *
 * @throws the driver's and the system's errors; what was written until then stays, and is found by the next run
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
  const end = await readOnce(source, importer, { write: true }, (bytes) =>
    progress(source.size + bytes, total),
  );
  await importer.finish();
  return end;
}

type Numbered<T> = { number: number; record: T };

async function readOnce<T>(
  source: SourceFile,
  importer: Importer<T>,
  { write }: { write: boolean },
  heard: (bytes: number) => void,
): Promise<ImportResult> {
  const end: ImportResult = { lines: 0, imported: 0, alreadyThere: 0, refused: 0, refusedLines: [] };
  let batch: Numbered<T>[] = [];
  let refusals: [number, string][] = [];

  const finishBatch = async (bytesRead: number) => {
    refusals.push(...(await takeBatch(importer, batch, write, end)));
    for (const [line, reason] of refusals.toSorted(([one], [other]) => one - other)) {
      end.refused += 1;
      if (end.refusedLines.length < REFUSED_LINES_TOLD) end.refusedLines.push({ line, reason });
    }
    batch = [];
    refusals = [];
    heard(bytesRead);
  };

  for await (const line of readLines(source.read())) {
    end.lines += 1;
    const parsed = parseLine(importer.schema, line);
    if ('reason' in parsed) refusals.push([line.number, parsed.reason]);
    else batch.push({ number: line.number, record: parsed.record });
    if (batch.length + refusals.length >= BATCH) await finishBatch(line.bytesRead);
  }
  await finishBatch(source.size);
  return end;
}

/** Checks a batch and, where asked to, writes it; gives the lines that were refused. */
async function takeBatch<T>(
  importer: Importer<T>,
  batch: Numbered<T>[],
  write: boolean,
  end: ImportResult,
): Promise<[number, string][]> {
  if (batch.length === 0) return [];
  const refusals: [number, string][] = [];
  const reasons = await importer.check(batch.map(({ record }) => record));
  const fine = batch.filter(({ number }, index) => {
    const reason = reasons[index];
    if (reason) refusals.push([number, reason]);
    return !reason;
  });
  if (!write || fine.length === 0) return refusals;
  const ends = await importer.write(fine.map(({ record }) => record));
  for (const [index, { number }] of fine.entries()) {
    const lineEnd = ends[index];
    if (lineEnd === 'imported') end.imported += 1;
    else if (lineEnd === 'already-there') end.alreadyThere += 1;
    else if (lineEnd) refusals.push([number, lineEnd.refused]);
  }
  return refusals;
}

function parseLine<T>(schema: z.ZodType<T>, line: Line): { record: T } | { reason: string } {
  if ('fault' in line) return { reason: line.fault };
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
