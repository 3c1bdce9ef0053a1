import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { JAR } from '../../relay/build.ts';
import { newFolder } from './relay-process.ts';

/** Compiles files of `test/relay/java` against the jar. Returns the class path of both. */
export function compileBesideJar(files: string[]): string {
  const sources = files.map((file) => fileURLToPath(new URL(`java/${file}`, import.meta.url)));
  const folder = newFolder();
  execFileSync('javac', ['--release', '8', '-Xlint:-options', '-cp', JAR, '-d', folder, ...sources]);
  return `${folder}:${JAR}`;
}
