import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** What the entry of the package exports. */
export type ClientModule = typeof import('../../clients/typescript/src/index.ts');

/** The client as a project has it that installed the published package. */
export type PublishedClient = {
  /** The project's folder. */
  folder: string;
  /** The entry of the installed package. */
  entry: string;
  module: ClientModule;
  remove(): Promise<void>;
};

const SOURCE = resolve('clients/typescript');

const OFFLINE = { npm_config_offline: 'true', npm_config_audit: 'false', npm_config_fund: 'false' };

/** The commands of the README that make a project with the client. */
function installation(): string[] {
  const readme = readFileSync(join(SOURCE, 'README.md'), 'utf8');
  const [, commands = ''] = /^## Install\n.*?```sh\n(.*?)\n```/ms.exec(readme) ?? [];
  if (!commands.includes('npm install')) throw new Error('The README says no installation');
  return commands.split('\n');
}

/**
 * Packs the client and installs the tarball as its README says, without a network, in a project of its own. Its examples
 * are beside it.
 */
export async function installClient(): Promise<PublishedClient> {
  const folder = await mkdtemp(join(tmpdir(), 'tallyport-client-'));
  // A copy, so that test files that run at the same time do not build into the same folder.
  const copy = join(folder, 'source');
  await cp(SOURCE, copy, { recursive: true, filter: (path) => !/\/(dist|node_modules)$/.test(path) });
  const path = [resolve('node_modules/.bin'), dirname(process.execPath), process.env.PATH].join(delimiter);
  const env = { ...process.env, PATH: path };
  await run('npm', ['pack', copy, '--pack-destination', folder], { cwd: copy, env });
  await rm(copy, { recursive: true });
  for (const command of installation())
    await run('sh', ['-c', command], { cwd: folder, env: { ...env, ...OFFLINE } });
  await cp(join(SOURCE, 'examples'), folder, { recursive: true });
  const entry = join(folder, 'node_modules/@tallyport/client/dist/index.js');
  const module: ClientModule = await import(pathToFileURL(entry).href);
  return { folder, entry, module, remove: () => rm(folder, { recursive: true }) };
}
