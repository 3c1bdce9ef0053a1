import { globSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { DOC_PAGES } from '../../src/site/docs-frame.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const read = (name: string) => readFileSync(root + name, 'utf8');

type Manifest = Record<'dependencies' | 'devDependencies', Record<string, string>>;
const { dependencies, devDependencies }: Manifest = JSON.parse(read('package.json'));

type Locked = Partial<
  Record<'dependencies' | 'optionalDependencies' | 'peerDependencies', Record<string, string>>
> & {
  peerDependenciesMeta?: Record<string, { optional?: boolean }>;
};
const { packages }: { packages: Record<string, Locked> } = JSON.parse(read('package-lock.json'));

/** Where Node.js finds a package that the one in `from` asks for; undefined for an optional one of another system. */
function resolve(name: string, from: string): string | undefined {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/node_modules/')))) {
    const path = `${folder && `${folder}/`}node_modules/${name}`;
    if (packages[path]) return path;
    if (folder === '') return undefined;
  }
}

/** What `npm ci` installs without our own development tools: dependencies, and peers that are not optional. */
function installed(): Set<string> {
  const found = new Set<string>();
  const visit = (name: string, from: string): void => {
    const path = resolve(name, from);
    if (!path || found.has(path)) return;
    found.add(path);
    const { peerDependencies = {}, peerDependenciesMeta = {}, ...others } = packages[path] ?? {};
    const peers = Object.keys(peerDependencies).filter((peer) => !peerDependenciesMeta[peer]?.optional);
    const wanted = Object.keys({ ...others.dependencies, ...others.optionalDependencies });
    for (const next of [...wanted, ...peers]) visit(next, path);
  };
  for (const name of Object.keys(dependencies)) visit(name, '');
  return found;
}

test('no development tool and no downloader of MongoDB is in the image', () => {
  const inImage = installed();
  for (const name of ['fastify', 'better-auth', 'mongodb']) expect(inImage).toContain(`node_modules/${name}`);
  const tools = Object.keys(devDependencies).filter((name) => inImage.has(`node_modules/${name}`));
  // sanitize-html and @fastify/swagger need these two themselves.
  expect(tools).toEqual(['htmlparser2', 'yaml']);
  expect(devDependencies).toHaveProperty('mongodb-memory-server');
  // With them in package.json, npm also installs those that are optional peers of a dependency.
  expect(read('Dockerfile')).toContain('RUN npm pkg delete devDependencies && npm ci --omit=dev\n');
});

test('the processes need only packages that are in the image', () => {
  const files = globSync(['src/**/*.ts', 'workers/**/*.ts'], { cwd: root });
  const missing = files.flatMap((file) =>
    [...read(file).matchAll(/^(?:import|export)\s(?!type\s)(?:[^;']*\sfrom\s)?'([^'.][^']*)'/gm)]
      .map(([, specifier = '']) => specifier)
      .filter((specifier) => !isBuiltin(specifier))
      .map((specifier) =>
        specifier
          .split('/')
          .slice(0, specifier.startsWith('@') ? 2 : 1)
          .join('/'),
      )
      .filter((name) => !(name in dependencies))
      .map((name) => `${file}: ${name}`),
  );
  expect(missing).toEqual([]);
});

test('the relay that owners download is in the image, and the documents that are pages', () => {
  const documents = DOC_PAGES.flatMap(({ name }) => (name ? [`docs/${name}.md`] : [])).toSorted();
  expect(read('Dockerfile')).toContain('COPY relay/tallyport-relay.jar relay/\n');
  expect(read('Dockerfile')).toContain(`COPY ${documents.join(' ')} docs/\n`);
  const sent = read('.dockerignore').split('\n');
  for (const file of ['relay/tallyport-relay.jar', ...documents]) expect(sent).toContain(`!${file}`);
});

test('the image is built without a frontend from a registry', () => {
  expect(read('Dockerfile')).not.toMatch(/^#\s*syntax=/m);
});
