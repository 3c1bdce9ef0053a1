import { ObjectId } from 'mongodb';
import { type Importer, type ImportResult, importLines } from '../../src/import-export/import-lines.ts';
import type { SourceFile } from '../../src/import-export/source-file.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { addServer } from '../../src/servers/listed-servers.ts';

/** Lines of JSON, one for each record; a string becomes a line without a change. */
export function lines(...records: unknown[]): string {
  return records
    .map((record) => `${typeof record === 'string' ? record : JSON.stringify(record)}\n`)
    .join('');
}

/** A file that holds `text`. */
export function fileOf(text: string): SourceFile {
  const bytes = Buffer.from(text);
  return {
    size: bytes.length,
    async *read() {
      yield bytes;
    },
    close: async () => undefined,
  };
}

/** Imports `text`, as the command does. */
export function importText<T>(
  openImporter: () => Importer<T>,
  text: string,
  { skipBad = false, dryRun = false } = {},
): Promise<ImportResult> {
  return importLines(fileOf(text), openImporter, { skipBad, dryRun, progress: () => undefined });
}

/** Lists a server and gives its id. */
export async function listedServer(deps: AppDeps, name = 'Moved'): Promise<ObjectId> {
  const settings = { name, address: 'play.example.org', port: 25_565 };
  return new ObjectId((await addServer(deps, settings, 'test')).serverId);
}
