import type { Command } from 'commander';
import { type Importing, importSamples, importServers, importVotes } from '../import-export/import.ts';
import type { ImportOptions, ImportResult } from '../import-export/import-lines.ts';
import { openSourceFile, type SourceFile } from '../import-export/source-file.ts';
import { type Answer, examples, onPlatform } from './answer.ts';
import { CommandError } from './failure.ts';
import { BY } from './find.ts';
import { withProgress } from './progress.ts';
import { RUN_AGAIN, type Session } from './session.ts';
import { oneLine } from './table.ts';
import { say, type Terminal } from './terminal.ts';
import { counted, sentence, systemReason } from './words.ts';

type Import = (
  deps: Importing,
  source: SourceFile,
  options: ImportOptions,
  by: string,
) => Promise<ImportResult>;
type Options = { skipBad?: boolean; dryRun?: boolean };

const FORMS = {
  servers:
    '{"name", "address", "connection_port"} and, where known, "server_id", "slug", "query_port", "game", "country_code", "is_premium", "date_added", "owner_email"',
  samples:
    '{"server_id", "at", "online", "online_players", "max_players", "latency_ms"}, a probe of 300 seconds unless "seconds" says otherwise',
  votes: '{"server_id", "username", "voted_at"}; they count, and are never forwarded',
};

export function addImportCommands(program: Command, terminal: Terminal): void {
  const group = program
    .command('import')
    .description('take in what another listing kept; doing it twice doubles nothing');
  addImport(group, terminal, 'servers', importServers);
  addImport(group, terminal, 'samples', importSamples);
  addImport(group, terminal, 'votes', importVotes);
}

function addImport(group: Command, terminal: Terminal, what: keyof typeof FORMS, work: Import): void {
  group
    .command(what)
    .description(`import ${what}, one JSON object a line:\n${FORMS[what]}`)
    .argument('<file>', 'a file of UTF-8 text; - is standard input')
    .option('--skip-bad', 'import the rest although lines are refused')
    .option('--dry-run', 'only check the file')
    .addHelpText(
      'after',
      examples(
        terminal,
        `import ${what} ${what}.ndjson --dry-run`,
        `import ${what} - --skip-bad < ${what}.ndjson`,
      ),
    )
    .action(
      onPlatform(terminal, (session, path: string, options: Options) => take(session, path, options, work), {
        wakes: true,
        longRun: true,
        resumable: true,
      }),
    );
}

async function take(
  session: Session,
  path: string,
  { skipBad = false, dryRun = false }: Options,
  work: Import,
): Promise<Answer> {
  const { terminal } = session;
  const source = await openSourceFile(path, terminal.streams.stdin).catch((error: NodeJS.ErrnoException) => {
    throw new CommandError('file-unreadable', sentence(`«${path}» cannot be read: ${systemReason(error)}`));
  });
  try {
    const end = await withProgress(terminal, dryRun ? 'Checking' : 'Importing', 'bytes', (progress) =>
      work(session, source, { skipBad, dryRun, progress }, BY),
    ).catch((error: unknown) => {
      if (!dryRun) say(terminal, RUN_AGAIN);
      throw error;
    });
    return answerOf(end, { skipBad, dryRun });
  } finally {
    await source.close();
  }
}

function answerOf(end: ImportResult, { skipBad, dryRun }: Required<Options>): Answer {
  const { lines, imported, alreadyThere, refused, refusedLines } = end;
  const held = refused > 0 && !skipBad;
  return {
    json: {
      dry_run: dryRun,
      lines,
      ...(dryRun ? { acceptable: lines - refused } : {}),
      imported,
      already_there: alreadyThere,
      refused,
      refused_lines: refusedLines,
    },
    text: [summary(end, { held, dryRun }), ...refusedText(end)].join('\n'),
    ...(held ? { exitCode: 1 } : {}),
  };
}

function summary(
  { lines, imported, alreadyThere, refused }: ImportResult,
  { held, dryRun }: { held: boolean; dryRun: boolean },
): string {
  const read = counted(lines, 'line');
  if (dryRun)
    return `${read} read: ${lines - refused} can be imported where they are not there already, ${refused} would be refused.`;
  if (held && imported + alreadyThere === 0)
    return `Nothing was imported: ${refused} of ${read} are refused. Mend them, or import the rest with --skip-bad.`;
  return `${read} read: ${imported} imported, ${alreadyThere} already there, ${refused} refused.`;
}

function refusedText({ refused, refusedLines }: ImportResult): string[] {
  const told = refusedLines.map(({ line, reason }) => `  line ${line}: ${oneLine(reason)}`);
  const more = refused - refusedLines.length;
  return more > 0 ? [...told, `  and ${more} more`] : told;
}
