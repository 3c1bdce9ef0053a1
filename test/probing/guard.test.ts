import { describe, expect, it } from 'vitest';
import { gameOf, queryPorts } from '../../src/games/games.ts';
import { createAsk } from '../../src/probing/ask-server.ts';
import { HttpExchange } from '../../src/probing/http-query.ts';
import type { Lookups, SrvRecord } from '../../src/probing/resolve-server.ts';
import { TcpConnection } from '../../src/probing/tcp-connection.ts';
import { UdpConnection } from '../../src/probing/udp-connection.ts';
import { BedrockServer, JavaServer, SourceServer } from '../support/fake-game-servers.ts';
import { nameServer, silentNameServer, srv, useNameServers } from '../support/fake-name-server.ts';
import { timed, useFastClock } from '../support/fast-clock.ts';
import { answerOf, askHere, at, failureOf, started } from './asking.ts';

/** Answers each look-up with the next list, and records the names. */
function names(...answers: string[][]) {
  const asked: string[] = [];
  const lookup: NonNullable<Lookups['lookup']> = async (name) => {
    asked.push(name);
    return (answers[asked.length - 1] ?? []).map((address) => ({ address }));
  };
  return { asked, lookup };
}

function srvOf(...records: Partial<SrvRecord>[]): NonNullable<Lookups['srv']> {
  return async () => records.map((record) => ({ name: '.', port: 1, priority: 0, weight: 0, ...record }));
}

const HERE = { host: '127.0.0.1', address: '127.0.0.1', where: 'here' };

const KINDS = [
  ['minecraft', JavaServer],
  ['mbe', BedrockServer],
] as const;

it('A name whose SRV record leads to a mail server is not queried', async () => {
  const { lookup, asked } = names(['127.0.0.1']);
  const ask = askHere({ lookup, srv: srvOf({ name: 'mail.example.org', port: 25 }) });
  expect(failureOf(await ask(at(25_565, 'minecraft', 'play.example.org')))).toBe('address-refused');
  expect(asked).toEqual([]);
});

describe.each(KINDS)('A server of %s on a private address', (game, Kind) => {
  it.each(['127.0.0.1', '127.1', '2130706433'])('given as %s is not queried', async (host) => {
    const server = await started(new Kind());
    const ask = createAsk({ ALLOWED_PRIVATE_RANGES: [], REFUSED_RANGES: [] });
    expect(failureOf(await ask(at(server.port, game, host)))).toBe('address-refused');
    expect(server.asked).toBe(0);
  });

  it('behind a name is not queried', async () => {
    const server = await started(new Kind());
    const { lookup } = names(['127.0.0.1']);
    const ask = createAsk({ ALLOWED_PRIVATE_RANGES: [], REFUSED_RANGES: [] }, { lookup });
    const probe = await ask(at(server.port, game, 'play.example.org'));
    expect(probe).toMatchObject({ ok: false, failure: 'address-refused' });
    expect(server.asked).toBe(0);
  });

  it('is connected to by the checked address: the name is looked up once', async () => {
    const server = await started(new Kind());
    const { lookup, asked } = names(['127.0.0.1'], ['10.0.0.1']);
    const ask = askHere({ lookup });
    answerOf(await ask(at(server.port, game, 'play.example.org')));
    expect(asked).toEqual(['play.example.org']);
  });

  it('of IPv6 is queried too', async () => {
    const server = await started(new Kind());
    expect(await askHere()(at(server.port, game, '::1'))).toEqual({
      ok: false,
      failure: 'connection-refused',
      message: `Nothing listens on [::1]:${server.port}.`,
    });
  });

  it('of one family is found behind a name with both', async () => {
    const server = await started(new Kind());
    const { lookup } = names(['::1', '127.0.0.1']);
    answerOf(await askHere({ lookup })(at(server.port, game, 'play.example.org')));
  });
});

describe('A name', () => {
  it('without an address is reported as such', async () => {
    const probe = await askHere(names([]))(at(25_566, 'minecraft', 'play.example.org'));
    expect(probe).toEqual({
      ok: false,
      failure: 'dns-not-found',
      message: 'The host play.example.org has no address.',
    });
  });

  it('and its addresses share five seconds', async () => {
    const server = await started(new JavaServer());
    server.manner = { silent: true };
    const target = at(server.port, 'minecraft', 'play.example.org');
    const slowly = async () => {
      await new Promise((resolve) => setTimeout(resolve, 4_000));
      return [{ address: '127.0.0.1' }];
    };
    const never = () => new Promise<never>(() => {});
    useFastClock();
    const probes = [slowly, never].map((lookup) => timed(askHere({ lookup })(target)));
    const ends = await Promise.all(probes);
    expect(ends.map(({ result }) => failureOf(result))).toEqual(['no-answer', 'dns-timeout']);
    for (const { tookMs } of ends) expect(tookMs).toBeLessThanOrEqual(5_100);
    // In the second that is left it gets the status request and list pings.
    expect(server.handshakes).toHaveLength(1);
  });
});

describe('The SRV record of a Minecraft server', () => {
  const onUsualPort = at(25_565, 'minecraft', 'play.example.org');

  it('determines its host and port', async () => {
    const server = await started(new JavaServer());
    const { lookup, asked } = names(['127.0.0.1']);
    const srv = srvOf(
      { name: 'second.example.org', port: 1, priority: 5 },
      { name: 'node7.example.net', port: server.port, priority: 1 },
    );
    answerOf(await askHere({ lookup, srv })(onUsualPort));
    expect(asked).toEqual(['node7.example.net']);
    expect(server.handshakes).toEqual(['node7.example.net']);
  });

  it('is asked with the typed name once, if a proxy that knows only that one closes the connection', async () => {
    const server = await started(new JavaServer());
    const srv = srvOf({ name: 'node7.example.net', port: server.port });
    const ask = () => askHere({ lookup: names(['127.0.0.1']).lookup, srv })(onUsualPort);
    server.knows = onUsualPort.host;
    answerOf(await ask());
    expect(server.handshakes).toEqual(['node7.example.net', onUsualPort.host]);
    server.knows = 'another.example.org';
    expect(failureOf(await ask())).toBe('closed');
    expect(server.handshakes.slice(2)).toEqual(['node7.example.net', onUsualPort.host]);
  });

  it('leads to no private address', async () => {
    const server = await started(new JavaServer());
    const { lookup } = names(['127.0.0.1']);
    const srv = srvOf({ name: 'node7.example.net', port: server.port });
    const ask = createAsk({ ALLOWED_PRIVATE_RANGES: [], REFUSED_RANGES: [] }, { lookup, srv });
    expect(failureOf(await ask(onUsualPort))).toBe('address-refused');
    expect(server.asked).toBe(0);
  });

  it.each([
    ['another port', at(25_570, 'minecraft', 'play.example.org')],
    ['a query port', { ...onUsualPort, queryPort: 25_571 }],
    ['another game', at(25_565, 'mbe', 'play.example.org')],
  ])('is not looked up if there is %s', async (_, target) => {
    const { lookup, asked } = names([]);
    const srv = srvOf({ name: 'node7.example.net', port: 1 });
    expect(failureOf(await askHere({ lookup, srv })(target))).toBe('dns-not-found');
    expect(asked).toEqual(['play.example.org']);
  });

  it('is found although the first name server does not answer', async () => {
    const server = await started(new JavaServer());
    const zone = { SRV: srv(server.port, 'node7.example.net') };
    useNameServers([await silentNameServer(), await nameServer(zone)]);
    const lookup = async () => [{ address: '127.0.0.1' }];
    answerOf(await askHere({ lookup })(onUsualPort));
  });

  it.each([
    ['is none', () => Promise.reject(Object.assign(new Error('none'), { code: 'ENOTFOUND' }))],
    ['says that there is no service', srvOf({ name: '' })],
    ['is an empty list', srvOf()],
    ['nobody tells of in time', () => new Promise<never>(() => {})],
  ])('that %s is ignored, and the name itself is used', async (_, srv) => {
    const { lookup, asked } = names([]);
    useFastClock();
    expect(failureOf(await askHere({ lookup, srv })(onUsualPort))).toBe('dns-not-found');
    expect(asked).toEqual(['play.example.org']);
  });
});

describe('A server whose queries are on another port', () => {
  it('is found at the query port of its game', async () => {
    const server = await started(new SourceServer());
    // ARMA 3 answers queries one port above that of its players, where nothing listens here.
    expect(answerOf(await askHere()(at(server.port - 1, 'arma3'))).motd).toBe(server.said.motd);
  });

  it('is found at its players’ port as the last choice', async () => {
    const server = await started(new SourceServer());
    expect(answerOf(await askHere()(at(server.port, 'arma3'))).motd).toBe(server.said.motd);
  });

  it('is queried only at the owner’s query port', async () => {
    const server = await started(new JavaServer());
    const target = at(1, 'minecraft');
    expect(answerOf(await askHere()({ ...target, queryPort: server.port })).motd).toBe(server.said.motd);
    expect(failureOf(await askHere()({ ...at(server.port, 'minecraft'), queryPort: 1 }))).toBe(
      'connection-refused',
    );
  });
});

describe('A port of mail or remote shells', () => {
  const eco = gameOf('eco');

  it.each([
    ['by the offset of a game', 24],
    ['by the offset of a game', 586],
  ])('is not among the query ports when it is reached %s: %i', (_, port) => {
    expect(queryPorts(at(port, 'eco'), eco)).toEqual([port]);
  });

  it.each([22, 25, 465, 587])('%i is not queried even if it is the only one', async (port) => {
    const probe = await askHere()({ ...at(4_000, 'minecraft'), queryPort: port });
    expect(failureOf(probe)).toBe('address-refused');
    expect(failureOf(await askHere()(at(port, 'minecraft')))).toBe('address-refused');
  });

  it.each([
    ['TCP', () => new TcpConnection('127.0.0.1', 25, 'here')],
    ['UDP', () => new UdpConnection('127.0.0.1', 587, 'here')],
    ['HTTP', () => new HttpExchange({ url: 'http://127.0.0.1:22/' }, HERE)],
    ['HTTPS', () => new HttpExchange({ url: 'https://127.0.0.1:465/' }, HERE)],
  ])('is refused when a connection is opened: %s', (_, open) => {
    expect(open).toThrow(expect.objectContaining({ code: 'address-refused' }));
  });
});
