import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inDataDir, quoted, type Variables } from '../platform/environment.ts';
import type { Terminal } from './terminal.ts';

/** A command line for the user to copy; `line` is what follows `tallyport`. */
export function invocation(line: string, env: Variables): string {
  const elsewhere = inDataDir(env);
  // npm sets `npm_lifecycle_event`. Without npm, `tallyport` is a command only where the package is installed.
  if (env.npm_lifecycle_event === 'tallyport') return `${elsewhere}npm run -s tallyport -- ${line}`;
  const file = relative('', fileURLToPath(new URL('../cli.ts', import.meta.url)));
  return `${elsewhere}node ${quoted(file)} ${line}`;
}

/** The examples at the end of a help text; built when the help is shown. */
export function examples({ env }: Terminal, ...lines: string[]): () => string {
  return () => `\nExamples:\n${lines.map((line) => `  $ ${invocation(line, env)}`).join('\n')}`;
}
