import type { Command } from 'commander';
import { migrateDatabase, refuseUnfinishedRestore } from '../database/migrate.ts';
import { listMigrations } from '../database/migrations.ts';
import type { AppDeps } from '../process/app-deps.ts';
import { type Answer, withDeps } from './answer.ts';
import { examples } from './invocation.ts';
import { iso, when } from './output-format.ts';
import { table } from './table.ts';
import type { Terminal } from './terminal.ts';

export function addMigrateCommand(command: Command, terminal: Terminal): void {
  command
    .option('--list', 'only show the migrations and when each was applied')
    .addHelpText('after', examples(terminal, 'migrate', 'migrate --list'))
    .action(withDeps(terminal, migrate, { database: 'any', unlimited: true }));
}

async function migrate({ mongo, clock }: AppDeps, { list = false }: { list?: boolean }): Promise<Answer> {
  if (list) {
    await refuseUnfinishedRestore(mongo);
    return listed(await listMigrations(mongo), clock.now());
  }
  const { created, migrations } = await migrateDatabase(mongo);
  const text = [...namesUnder('Created:', created), ...namesUnder('Ran:', migrations)].join('\n');
  return { json: { made: created, ran: migrations }, text: text || 'The database is up to date.' };
}

function namesUnder(head: string, names: string[]): string[] {
  return names.length === 0 ? [] : [head, ...names.map((name) => `  ${name}`)];
}

function listed(migrations: Awaited<ReturnType<typeof listMigrations>>, now: Date): Answer {
  return {
    json: migrations.map(({ name, appliedAt, repeats }) => ({
      name,
      applied_at: iso(appliedAt),
      repeats,
    })),
    text: table(
      ['Migration', 'Applied', ''],
      migrations.map(({ name, appliedAt, repeats }) => [
        name,
        appliedAt ? when(appliedAt, now) : 'pending',
        repeats ? 'runs again at each migrate' : '',
      ]),
      'There are no migrations.',
    ),
  };
}
