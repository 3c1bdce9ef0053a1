import { gameOf } from '../games/games.ts';
import { queryPorts } from '../probing/find-server.ts';
import type { FakeServer, Said } from './fake-server.ts';
import { SampleGameServer } from './game-server.ts';
import type { Sample } from './sample.ts';
import { samplePlayersAt } from './sample-days.ts';
import { answerOfBedrock, answerOfSource, UdpGameServer } from './udp-game-server.ts';

/** Where a sample server is listed, and what answers there. */
export type SampleAddress = {
  address: string;
  port: number;
  queryPort: number | null;
  /** Absent where nobody answers. */
  fakeServer?: FakeServer;
};

/** The address is another's, or this machine has none but 127.0.0.1 on loopback. */
const NOT_TO_BE_HAD = ['EADDRINUSE', 'EADDRNOTAVAIL', 'EACCES'];

const ANY_PORT = 25_565;

/**
 * Opens what stands in for a sample server: at an address of its own on loopback and the usual port of its game, so
 * that it is at the same place with every demo; where that cannot be had, on any free port of 127.0.0.1.
 *
 * @param number - 1 to 254: makes the address
 */
export async function openFakeServer(sample: Sample, number: number): Promise<SampleAddress> {
  const host = `127.1.0.${number}`;
  const port = sample.port ?? usualPort(sample.game);
  if (sample.game === null || sample.kind !== 'probed') return { address: host, port, queryPort: null };
  const fakeServer = fakeServerFor(sample.game, () => saidBy(sample));
  const [asked] = queryPorts({ host, port, queryPort: null, game: sample.game }, gameOf(sample.game));
  try {
    await fakeServer.start({ host, port: asked ?? port });
    return { address: host, port, queryPort: null, fakeServer };
  } catch (error) {
    if (!NOT_TO_BE_HAD.includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
  await fakeServer.start();
  return { address: '127.0.0.1', port: fakeServer.port, queryPort: fakeServer.port, fakeServer };
}

function usualPort(game: string | null): number {
  return (game === null ? null : gameOf(game).port) ?? ANY_PORT;
}

/** Says wherever a server's greeting is read that it is none. */
const MARKS: Record<string, string> = {
  minecraft: '\n§8A sample, made up by Tallyport’s demo',
  mbe: ' §8(sample)',
};

/** A sample's greeting with the mark that it is a sample. */
export function greetingOf({ game, motd }: Sample): string {
  return `${motd}${MARKS[game ?? ''] ?? ' (sample)'}`;
}

function saidBy(sample: Sample): Said {
  const { places: max } = sample.activity;
  return {
    motd: greetingOf(sample),
    version: sample.version,
    online: samplePlayersAt(sample, new Date()),
    max,
  };
}

function fakeServerFor(game: string, says: () => Said): FakeServer {
  if (game === 'minecraft') return new SampleGameServer(says);
  return new UdpGameServer(game === 'mbe' ? answerOfBedrock : answerOfSource, says);
}
