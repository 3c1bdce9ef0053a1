import { existsSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { SampleGameServer } from './game-server.ts';
import { type DemoEvents, openSampleListener } from './sample-listeners.ts';
import type { VotifierListener } from './votifier-listener.ts';

/** A game server that is not listed yet, for users who try to add a server. */
export type Newcomer = {
  game: SampleGameServer;
  listener: VotifierListener;
  /** The file with the server's message. The user writes the verification code into it. */
  messageFile: string;
};

const MESSAGE = 'A game server that nobody has listed yet';

export async function openNewcomer(
  messageFile: string,
  events: DemoEvents,
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
  const { listener } = await openSampleListener('Your own server', events, signal);
  return { game, listener, messageFile };
}

/** Reads the message for every answer, so a change of the file takes effect at once. */
function messageIn(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return MESSAGE;
  }
}
