import { execFile } from 'node:child_process';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Variables } from '../../src/platform/environment.ts';
import { THIS_VERSION } from './process-control.ts';
import type { Lister } from './targets.ts';

const run = promisify(execFile);

/** The source of an earlier release, ready to run. */
export type Release = {
  /** The folder with its `src/`. */
  root: string;
  /** Runs its command line; returns what it printed. Throws when it exits with another code than 0. */
  tallyport(env: Variables, ...args: string[]): Promise<string>;
  remove(): Promise<void>;
};

/**
 * Unpacks `releases/VERSION.tar.gz`. It runs on the packages of this version, which include its own: what only it needs
 * (`@fastify/compress`, `@fastify/formbody`) is a development dependency.
 */
export async function unpackRelease(version: string): Promise<Release> {
  const root = await mkdtemp(join(tmpdir(), `tallyport-${version}-`));
  const archive = new URL(`releases/${version}.tar.gz`, import.meta.url);
  await run('tar', ['-xzf', archive.pathname, '-C', root]);
  await symlink(join(THIS_VERSION, 'node_modules'), join(root, 'node_modules'));
  return {
    root,
    async tallyport(env, ...args) {
      const { stdout } = await run(process.execPath, [join(root, 'src/cli.ts'), ...args], { env });
      return stdout;
    },
    remove: () => rm(root, { recursive: true, force: true }),
  };
}

/** Lists servers by the command line of a release. */
export function listerOfRelease(release: Release, env: Variables): Lister {
  const json = async (...args: string[]) => JSON.parse(await release.tallyport(env, ...args, '--json'));
  const setListener = (serverId: string, protocol: string, ...args: string[]) =>
    json('listener', 'set', serverId, '--protocol', protocol, '--service-name', 'Storm', ...args);
  return {
    addServer: async (name) =>
      (await json('server', 'add', '--name', name, '--address', 'play.example.org', '--port', '25565'))
        .server_id,
    issueToken: async (serverId) => (await json('token', 'issue', serverId)).token,
    async setVotifier(serverId, { protocol, host, port, secret }) {
      const keyFile = join(release.root, `${serverId}.key`);
      if (protocol === 'votifier-v1') await writeFile(keyFile, secret);
      const key = protocol === 'votifier-v1' ? ['--public-key-file', keyFile] : ['--token', secret];
      await setListener(serverId, protocol, '--host', host, '--port', String(port), ...key);
    },
    setHttp: async (serverId, url) => (await setListener(serverId, 'http', '--url', url)).secret,
  };
}
