import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

const IMPORT =
  /(?:^|\n)\s*(?:import|export)\s(?!type\s)[^;]*?from\s*'([^']+)'|\bimport\(\s*'([^']+)'|(?:^|\n)import\s*'([^']+)'/g;

/** What a file imports, without imports of types; dynamic imports count. */
export function importsOf(path: string): string[] {
  const found = [...readFileSync(path, 'utf8').matchAll(IMPORT)];
  return found.map(([, from, dynamic, bare]) => from ?? dynamic ?? bare ?? '');
}

/** All files and packages that a program loads or may load, with the file that imports each first. */
export function graphOf(entry: string): Map<string, string> {
  const graph = new Map([[entry, '']]);
  for (const [path] of graph) {
    // A test may have the text of an import of a file that there is not.
    if (!path.endsWith('.ts') || !existsSync(path)) continue;
    for (const name of importsOf(path)) {
      const imported = name.startsWith('.') ? normalize(join(dirname(path), name)) : name;
      if (!graph.has(imported)) graph.set(imported, path);
    }
  }
  return graph;
}
