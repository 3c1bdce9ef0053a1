import { globSync } from 'node:fs';
import { expect, test } from 'vitest';
import { graphOf, importsOf } from './import-graph.ts';

/** Native code that decodes or draws pictures, and leaks. */
const LIBRARIES = ['sharp', '@resvg/resvg-js'];

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
