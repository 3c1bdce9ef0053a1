/**
 * `npm run generate`: writes what follows from the definitions in the code, such as tables of the documentation. A test
 * (test/docs/generated.test.ts) fails if a file is not what this would write. `--check` writes nothing and names such
 * files. It also writes the generated part of the TypeScript client, which has a test of its own.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { ERROR_CODE_TABLES } from './generated/error-codes.ts';
import type { Generated } from './generated/generated.ts';
import { LIMITS } from './generated/limits.ts';
import { METRICS_TABLE } from './generated/metrics.ts';
import { OUTCOME_TABLES } from './generated/outcomes.ts';
import { PLAYER_NAMES } from './generated/player-names.ts';
import { QUEUES_TABLE } from './generated/queues.ts';
import { SETTINGS_FILES } from './generated/settings.ts';
import { TEXT_FILES } from './generated/texts.ts';

/** Everything that is generated, one list for each kind. */
const GENERATED: Generated[] = [
  ...ERROR_CODE_TABLES,
  ...LIMITS,
  ...METRICS_TABLE,
  ...OUTCOME_TABLES,
  PLAYER_NAMES,
  ...QUEUES_TABLE,
  ...SETTINGS_FILES,
  ...TEXT_FILES,
];

/** The files that are not what the code says, with the right text. */
export async function oldFiles(): Promise<Map<string, string>> {
  const texts = new Map<string, { now: string; made: string }>();
  for (const { file, make } of GENERATED) {
    const { now, made } = texts.get(file) ?? (await readText(file));
    texts.set(file, { now, made: await make(made) });
  }
  const old = [...texts].filter(([, { now, made }]) => made !== now);
  return new Map(old.map(([file, { made }]) => [file, made]));
}

async function readText(file: string): Promise<{ now: string; made: string }> {
  const now = await readFile(new URL(`../${file}`, import.meta.url), 'utf8').catch(() => '');
  return { now, made: now };
}

if (import.meta.main) {
  const isCheck = process.argv.includes('--check');
  const old = await oldFiles();
  for (const [file, text] of old) {
    if (!isCheck) await writeFile(new URL(`../${file}`, import.meta.url), text);
    console.log(`${isCheck ? 'Old' : 'Written'}: ${file}`);
  }
  if (old.size === 0) console.log('Every generated file is what the code says.');
  if (isCheck && old.size > 0) process.exitCode = 1;
  // Not imported above: the generator of the client takes seconds to load.
  if (!isCheck) await (await import('../clients/typescript/scripts/generate.ts')).generateClient();
}
