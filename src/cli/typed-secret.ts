import { text } from 'node:stream/consumers';
import type { Terminal } from './terminal.ts';

/** `-` reads standard input, so that the secret is in no list of processes and no shell history. */
export async function typedSecret({ streams }: Terminal, given: string): Promise<string> {
  return given === '-' ? (await text(streams.stdin)).trim() : given;
}
