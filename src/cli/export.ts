import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Command } from 'commander';
import type { ObjectId } from 'mongodb';
import { SAMPLES_TTL_DAYS } from '../history/status-sample.ts';
import {
  type Export,
  exportSamples,
  exportServers,
  exportVotes,
  type TimeRange,
} from '../import-export/export.ts';
import type { AppDeps } from '../process/app-deps.ts';
import { wrongUse } from './failure.ts';
import { requireServer } from './find.ts';
import { examples } from './invocation.ts';
import { moment } from './option-values.ts';
import { withProgress } from './progress-bar.ts';
import { type Session, withSession } from './session.ts';
import type { Terminal } from './terminal.ts';

type Exporter = (deps: AppDeps, serverId: ObjectId, span: TimeRange) => Promise<Export>;

export function addExportCommands(group: Command, terminal: Terminal): void {
  group
    .command('servers')
    .description('write the listed servers with their profiles, without hidden ones and without pictures')
    .argument('[server]', 'id or slug: only this one')
    .addHelpText('after', examples(terminal, 'export servers > servers.ndjson'))
    .action((text: string | undefined) =>
      withSession(
        terminal,
        async (session) => {
          const server = text === undefined ? undefined : await requireServer(session, text);
          return write(session, await exportServers(session, server?._id));
        },
        { longRun: true },
      ),
    );
  addExport(
    group,
    terminal,
    'samples',
    `write a server’s samples of the last ${SAMPLES_TTL_DAYS} days`,
    exportSamples,
  );
  addExport(
    group,
    terminal,
    'votes',
    'write who voted for a server and when, without excluded votes',
    exportVotes,
  );
}

function addExport(
  group: Command,
  terminal: Terminal,
  what: string,
  description: string,
  work: Exporter,
): void {
  group
    .command(what)
    .description(`${description}, oldest first`)
    .argument('<server>', 'id or slug; also of a removed server')
    .option('--since <time>', 'from this UTC day or time', moment)
    .option('--until <time>', 'before this UTC day or time', moment)
    .addHelpText(
      'after',
      examples(
        terminal,
        `export ${what} alpha-craft > ${what}.ndjson`,
        `export ${what} alpha-craft --since 2026-11-01 --until 2026-11-08`,
      ),
    )
    .action((text: string, span: TimeRange) => {
      if (span.since && span.until && span.since >= span.until)
        throw wrongUse('--since must be before --until.');
      return withSession(
        terminal,
        async (session) => {
          const server = await requireServer(session, text, { removed: true });
          return write(session, await work(session, server._id, span));
        },
        { longRun: true },
      );
    });
}

async function write({ terminal }: Session, { total, lines }: Export): Promise<void> {
  const { stdout } = terminal.streams;
  await withProgress(terminal, 'Exporting', 'lines', async (progress) => {
    // If the output is a terminal, it shows the exported lines, so there is no progress bar.
    const shownProgress = stdout.isTTY ? () => undefined : progress;
    await pipeline(Readable.from(counted(lines, total, shownProgress)), stdout, { end: false }).catch(
      (error: NodeJS.ErrnoException) => {
        // If the reader of the pipe closes it early, as `head` does: the export ends without an error.
        if (error.code !== 'EPIPE') throw error;
      },
    );
  });
}

async function* counted(
  lines: AsyncIterable<string>,
  total: number,
  progress: (done: number, total: number) => void,
): AsyncIterable<string> {
  let done = 0;
  for await (const line of lines) {
    done += 1;
    progress(done, total);
    yield line;
  }
}
