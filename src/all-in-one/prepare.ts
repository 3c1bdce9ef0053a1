/**
 * A child of `npm start`, which prepares the database and ends. So the parent does not keep the models in memory. With
 * `--how-to-begin` it also says how to make the first operator.
 */
import { CodedError } from '../platform/app-error.ts';
import { type ConnectedConfig, loadConfig } from '../platform/config.ts';
import { endWithParent } from '../platform/end-with-parent.ts';
import { ConfigError } from '../platform/environment.ts';
import { awaitVariables } from '../platform/variables-of-parent.ts';
import { howToBegin } from './how-to-begin.ts';
import { migrateWhenRestored } from './migrate-when-restored.ts';

export type FromPreparation = { say: string } | { error: string } | { begin: string | null };

const tell = (message: FromPreparation) =>
  new Promise<void>((resolve) => {
    process.send?.(message, () => resolve());
  });

endWithParent(() => process.exit(1));
try {
  await awaitVariables();
  const config = loadConfig() as ConnectedConfig;
  const { created, migrations } = await migrateWhenRestored(config, (say) => void tell({ say }));
  if (created.length > 0)
    await tell({ say: `The database is prepared: ${created.length} collections and indexes were made` });
  if (migrations.length > 0) await tell({ say: `Migrations that were run: ${migrations.join(', ')}` });
  const isTerminal = process.stdout.isTTY === true;
  const isAsked = process.argv.includes('--how-to-begin');
  await tell({ begin: isAsked ? await howToBegin(config, { isTerminal }) : null });
  process.exit(0);
} catch (error) {
  const isKnown = error instanceof CodedError || error instanceof ConfigError;
  await tell({ error: isKnown ? error.message : `The database cannot be prepared: ${error}` });
  process.exit(1);
}
