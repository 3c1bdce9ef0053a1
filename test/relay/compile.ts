import { execFileSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { JAR, QUICK_JAVAC } from '../../relay/build.ts';
import { newFolder } from './relay-process.ts';

/** Compiles the programs in `test/relay/java` against the jar. Returns the class path of both. */
export function compileBesideJar(): string {
  const sources = globSync(fileURLToPath(new URL('java/**/*.java', import.meta.url)));
  const folder = newFolder();
  const options = [...QUICK_JAVAC, '--release', '8', '-Xlint:-options', '-cp', JAR, '-d', folder];
  execFileSync('javac', [...options, ...sources]);
  return `${folder}:${JAR}`;
}
