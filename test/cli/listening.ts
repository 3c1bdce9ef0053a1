import { onTestFinished } from 'vitest';
import { VotifierListener } from '../../src/demo/votifier-listener.ts';
import type { Cli } from './tallyport.ts';
import type { CliResult } from './tallyport-process.ts';

/** Starts a Votifier listener that runs until the test ends. */
export async function runningListener(): Promise<VotifierListener> {
  const listener = new VotifierListener();
  await listener.start();
  onTestFinished(() => listener.stop());
  return listener;
}

/** Sets a v2 listener on loopback with `listener set`; `options` start with a space. */
export function setV2(
  cli: Cli,
  slug: string,
  { port, token }: { port: number; token: string },
  options = '',
): Promise<CliResult> {
  return cli.run(
    `listener set ${slug} --protocol votifier-v2 --host 127.0.0.1 --port ${port} --token ${token}${options} --json`,
  );
}

/** Lists a server whose v2 listener runs. */
export async function listening(
  cli: Cli,
  name: string,
): Promise<{ slug: string; server_id: string; listener: VotifierListener }> {
  const listener = await runningListener();
  const { slug, server_id } = await cli.addServer(name);
  await setV2(cli, slug, listener);
  return { slug, server_id, listener };
}
