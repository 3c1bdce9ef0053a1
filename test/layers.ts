import { dirname, join, normalize } from 'node:path';

/** The folders of `src/` and the workers, lowest first: each imports only itself and those before it. */
export const LAYERS = [
  'platform',
  // Features.
  'games',
  'mail',
  'accounts',
  'servers',
  'listeners',
  'votes',
  'delivery',
  'history',
  'probing',
  'reviews',
  'favourites',
  'ranking',
  'moderation',
  'notifications',
  'import-export',
  // Workflows that cross features.
  'listing',
  // What a process is composed of.
  'process',
  'backup',
  'embedded',
  // Adapters.
  'api',
  'site',
  'cli',
  'workers',
  'demo',
  'all-in-one',
  // The files that start processes, directly in `src/`.
  'entry points',
];

const IMPORT = /\b(?:from|import)\s*\(?\s*'(\.{1,2}\/[^']+)'/g;

/** The imports of a file, type imports included, that point to a later layer: `src/votes/a.ts imports src/api/b.ts`. */
export function wrongImports(path: string, text: string): string[] {
  const own = LAYERS.indexOf(layerOf(path));
  return [...text.matchAll(IMPORT)]
    .map(([, imported = '']) => normalize(join(dirname(path), imported)))
    .filter((imported) => /^(src|workers)\//.test(imported) && LAYERS.indexOf(layerOf(imported)) > own)
    .map((imported) => `${path} imports ${imported}`);
}

/** The layer of a file; one in a folder without a place in the order belongs to none. */
export function layerOf(path: string): string {
  const [top = '', folder = '', ...rest] = path.split('/');
  if (top === 'workers') return 'workers';
  return rest.length === 0 ? 'entry points' : folder;
}
