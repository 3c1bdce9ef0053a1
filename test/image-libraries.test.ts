import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, test } from 'vitest';

/** Native code that decodes or draws pictures, and leaks. */
const LIBRARIES = ['sharp', '@resvg/resvg-js'];

const IMPORT =
  /(?:^|\n)\s*(?:import|export)\s(?!type\s)[^;]*?from\s*'([^']+)'|\bimport\(\s*'([^']+)'|(?:^|\n)import\s*'([^']+)'/g;

/** What a file imports, without imports of types; dynamic imports count. */
function importsOf(path: string): string[] {
  const found = [...readFileSync(path, 'utf8').matchAll(IMPORT)];
  return found.map(([, from, dynamic, bare]) => from ?? dynamic ?? bare ?? '');
}

/** All files and packages that a program loads or may load, with the file that imports each first. */
function graphOf(entry: string): Map<string, string> {
  const graph = new Map([[entry, '']]);
  for (const [path] of graph) {
    if (!path.endsWith('.ts')) continue;
    for (const name of importsOf(path)) {
      const imported = name.startsWith('.') ? normalize(join(dirname(path), name)) : name;
      if (!graph.has(imported)) graph.set(imported, path);
    }
  }
  return graph;
}

test.each([
  'src/web.ts',
  'workers/main.ts',
  'workers/scheduler.ts',
  'src/cli.ts',
])('%s loads no image library', (entry) => {
  const graph = graphOf(entry);
  expect(graph.size).toBeGreaterThan(200);
  expect(graph.has('src/process/app-deps.ts')).toBe(true);
  for (const library of LIBRARIES) expect([library, graph.get(library)]).toEqual([library, undefined]);
});

test('the picture process loads them; nothing else but the demo does', () => {
  const graph = graphOf('src/platform/pictures/picture-child.ts');
  for (const library of LIBRARIES) expect([...graph.keys()]).toContain(library);
  const files = globSync('{src,workers}/**/*.ts').filter((path) =>
    importsOf(path).some((name) => LIBRARIES.includes(name)),
  );
  expect(files.toSorted()).toEqual([
    'src/demo/sample-pictures.ts',
    'src/platform/pictures/draw-svg.ts',
    'src/platform/pictures/encode-picture.ts',
  ]);
});
