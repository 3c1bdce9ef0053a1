import type { Command } from 'commander';
import { migrateDatabase } from '../process/migrate.ts';
import type { Platform } from '../process/platform.ts';
import { type Answer, examples, onPlatform } from './answer.ts';
import type { Terminal } from './terminal.ts';

export function addMigrateCommand(program: Command, terminal: Terminal): void {
  program
    .command('migrate')
    .description('create missing collections and indexes; run it at each release')
    .addHelpText('after', examples(terminal, 'migrate'))
    .action(onPlatform(terminal, migrate, { migrates: true }));
}

async function migrate({ mongo }: Platform): Promise<Answer> {
  const { made } = await migrateDatabase(mongo.db);
  const text =
    made.length === 0
      ? 'Everything exists already.'
      : `Created:\n${made.map((name) => `  ${name}`).join('\n')}`;
  return { json: { made }, text };
}
