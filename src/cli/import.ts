import { tmpdir } from 'node:os';
import type { Command } from 'commander';
import { importSamples, importServers, importVotes } from '../import-export/import.ts';
import type { ImportOptions, ImportResult } from '../import-export/import-lines.ts';
import { openSourceFile, type SourceFile } from '../import-export/source-file.ts';
import type { AppDeps } from '../process/app-deps.ts';
import { PROBE_INTERVAL_SECONDS } from '../servers/listed-servers.ts';
import { type Answer, withDeps } from './answer.ts';
import { CommandError } from './failure.ts';
import { BY } from './find.ts';
import { examples } from './invocation.ts';
import { countWithNoun, sentence, systemReason } from './output-format.ts';
import { withProgress } from './progress-bar.ts';
import { RUN_AGAIN, type Session } from './session.ts';
import { oneLine } from './table.ts';
import { say, type Terminal } from './terminal.ts';

type Import = (
  deps: AppDeps,
  source: SourceFile,
  options: ImportOptions,
  by: string,
) => Promise<ImportResult>;
type Options = { skipBad?: boolean; dryRun?: boolean };

const FORMS = {
  servers:
    '{"name", "address", "connection_port"} and, if known, "server_id", "slug", "query_port", "game", "country_code", "is_premium", "date_added", "owner_email", "how_to_vote", "profile"',
  samples: `{"server_id", "at", "online", "online_players", "max_players", "latency_ms"}, a probe of ${PROBE_INTERVAL_SECONDS} seconds unless "seconds" is given`,
  votes: '{"server_id", "username", "voted_at"}; they count and are never forwarded',
};

export function addImportCommands(group: Command, terminal: Terminal): void {
  addImport(group, terminal, 'servers', importServers);
  addImport(group, terminal, 'samples', importSamples);
  addImport(group, terminal, 'votes', importVotes);
}

function addImport(group: Command, terminal: Terminal, what: keyof typeof FORMS, work: Import): void {
  group
    .command(what)
    .description(`import ${what}, one JSON object on each line:\n${FORMS[what]}`)
    .argument('<file>', 'a UTF-8 file; - is standard input')
    .option('--skip-bad', 'skip refused lines and import the rest')
    .option('--dry-run', 'only check the file, import nothing')
    .addHelpText(
      'after',
      examples(
        terminal,
        `import ${what} ${what}.ndjson --dry-run`,
        `import ${what} - --skip-bad < ${what}.ndjson`,
      ),
    )
    .action(
      withDeps(
        terminal,
        (session, path: string, options: Options) => runImport(session, path, options, work),
        {
          wakes: true,
          longRun: true,
          interrupted: RUN_AGAIN,
        },
      ),
    );
}

async function runImport(
  session: Session,
  path: string,
  { skipBad = false, dryRun = false }: Options,
  work: Import,
): Promise<Answer> {
  const { terminal } = session;
  const source = await openSourceFile(path, terminal.streams.stdin).catch((error: NodeJS.ErrnoException) => {
    // Standard input and pipes are copied.
    const isCopied = path === '-' || error.code === 'ENOSPC';
    const hint = isCopied ? `; it is copied to ${tmpdir()} first: give the path of a file instead` : '';
    throw new CommandError(
      'file-unreadable',
      sentence(`“${path}” cannot be read: ${systemReason(error)}${hint}`),
    );
  });
  try {
    const result = await withProgress(terminal, dryRun ? 'Checking' : 'Importing', 'bytes', (progress) =>
      work(session, source, { skipBad, dryRun, progress }, BY),
    ).catch((error: unknown) => {
      if (!dryRun) say(terminal, RUN_AGAIN);
      throw error;
    });
    return answerOf(result, { skipBad, dryRun });
  } finally {
    await source.close();
  }
}

function answerOf(result: ImportResult, { skipBad, dryRun }: Required<Options>): Answer {
  const { lines, imported, alreadyThere, refused, refusedLines } = result;
  const hasRefusals = refused > 0 && !skipBad;
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
    text: [summary(result, { hasRefusals, dryRun }), ...refusedText(result)].join('\n'),
    ...(hasRefusals ? { exitCode: 1 } : {}),
  };
}

function summary(
  { lines, imported, alreadyThere, refused }: ImportResult,
  { hasRefusals, dryRun }: { hasRefusals: boolean; dryRun: boolean },
): string {
  const read = countWithNoun(lines, 'line');
  if (dryRun)
    return `${read} read: ${lines - refused} can be imported if they are not stored already, ${refused} would be refused.`;
  if (hasRefusals && imported + alreadyThere === 0)
    return `Nothing was imported: ${refused} of ${read} are refused. Correct them, or import the rest with --skip-bad.`;
  return `${read} read: ${imported} imported, ${alreadyThere} already there, ${refused} refused.`;
}

function refusedText({ refused, refusedLines }: ImportResult): string[] {
  const shown = refusedLines.map(({ line, reason }) => `  line ${line}: ${oneLine(reason)}`);
  const more = refused - refusedLines.length;
  return more > 0 ? [...shown, `  and ${more} more`] : shown;
}
