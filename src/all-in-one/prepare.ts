/** A child of `npm start`, which prepares the database and ends. So the parent does not keep the models in memory. */
import { type ConnectedConfig, loadConfig } from '../platform/config.ts';
import { awaitVariables } from '../platform/variables-of-parent.ts';
import { howToBegin } from './how-to-begin.ts';
import { migrateWhenRestored } from './migrate-when-restored.ts';

export type FromPreparation = { say: string } | { error: string } | { begin: string | null };

const tell = (message: FromPreparation) =>
  new Promise<void>((resolve) => {
    process.send?.(message, () => resolve());
  });

await awaitVariables();
try {
  const config = loadConfig() as ConnectedConfig;
  const { created, migrations } = await migrateWhenRestored(config, (say) => void tell({ say }));
  if (created.length > 0)
    await tell({ say: `The database is prepared: ${created.length} collections and indexes were made` });
  if (migrations.length > 0) await tell({ say: `Migrations that were run: ${migrations.join(', ')}` });
  const [forWhom] = process.argv.slice(2);
  await tell({
    begin: forWhom === undefined ? null : await howToBegin(config, { isTerminal: forWhom === 'terminal' }),
  });
} catch (error) {
  await tell({ error: error instanceof Error ? error.message : String(error) });
}
process.exit();
