import { existsSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { SampleGameServer } from './game-server.ts';
import { type DemoEvents, openSampleListener } from './sample-listeners.ts';
import type { VotifierListener } from './votifier-listener.ts';

/** A game server that nobody has listed, for whoever walks the way of a new owner. */
export type Newcomer = {
  game: SampleGameServer;
  listener: VotifierListener;
  /** Its message is what stands in this file: put the code that proves it there. */
  messageFile: string;
};

const MESSAGE = 'A game server that nobody has listed yet';

/** Opens the fake server of a server to be listed. What an earlier demo was told to say stays in the file. */
export async function openNewcomer(
  messageFile: string,
  told: DemoEvents,
  signal: AbortSignal,
): Promise<Newcomer> {
  await mkdir(dirname(messageFile), { recursive: true });
  if (!existsSync(messageFile)) await writeFile(messageFile, `${MESSAGE}\n`);
  const game = new SampleGameServer(() => ({
    motd: messageIn(messageFile),
    version: '1.21.4',
    online: 3,
    max: 20,
  }));
  await game.start();
  const { listener } = await openSampleListener('Your own server', told, signal);
  return { game, listener, messageFile };
}

/** Read for every answer, so that a change is seen at once. */
function messageIn(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return MESSAGE;
  }
}
