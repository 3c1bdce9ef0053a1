import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { JavaServer } from '../support/fake-game-servers.ts';
import { answerOf, askHere, at, failureOf, started } from './asking.ts';

const ask = askHere();

describe('A server that is queried over HTTP', () => {
  async function web(answer: http.RequestListener) {
    const server = http.createServer(answer);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    return (server.address() as AddressInfo).port;
  }
  const FRONT = { Info: { Description: 'Eco', OnlinePlayers: 4, TotalPlayers: 90, Version: '0.11' } };

  it('receives its host name', async () => {
    const hosts: (string | undefined)[] = [];
    const port = await web((request, response) => {
      hosts.push(request.headers.host);
      response.end(JSON.stringify(FRONT));
    });
    const asking = askHere({ lookup: async () => [{ address: '127.0.0.1' }] });
    expect(answerOf(await asking(at(port, 'eco', 'eco.example.org')))).toMatchObject({
      onlinePlayers: 4,
      maxPlayers: 90,
      motd: 'Eco',
      version: '0.11',
    });
    expect(hosts).toEqual([`eco.example.org:${port}`]);
  });

  it('is queried at an IPv6 address too', async () => {
    const server = http.createServer((_, response) => response.end(JSON.stringify(FRONT)));
    await new Promise<void>((resolve) => server.listen(0, '::1', resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    expect(answerOf(await ask(at(port, 'eco', '::1'))).motd).toBe('Eco');
  });

  it('is not followed to another address', async () => {
    let visits = 0;
    const elsewhere = await web((_, response) => {
      visits += 1;
      response.end(JSON.stringify(FRONT));
    });
    const port = await web((_, response) => {
      response.writeHead(302, { location: `http://127.0.0.1:${elsewhere}/frontpage` }).end();
    });
    expect(failureOf(await ask(at(port, 'eco')))).toBe('answer-broken');
    expect(visits).toBe(0);
  });

  it('is disconnected when it sends too much', async () => {
    const port = await web((_, response) => {
      response.on('error', () => {}).end(Buffer.alloc(3 * 1_024 * 1_024, ' '));
    });
    expect(failureOf(await ask(at(port, 'eco')))).toBe('answer-too-long');
  });

  it.each([
    ['no JSON', '<html>'],
    ['another shape', '{"Info": null}'],
    ['neither name nor counts', '{"Info": {"Description": ""}}'],
  ])('with %s counts as a broken answer', async (_, body) => {
    const port = await web((_, response) => response.end(body));
    expect(failureOf(await ask(at(port, 'eco')))).toBe('answer-broken');
  });

  it.each([
    ['{"Info": {"Description": "Eco"}}', null, null],
    ['{"Info": {"Description": "Eco", "OnlinePlayers": -1, "TotalPlayers": 1e99}}', 0, 2_147_483_647],
    ['{"Info": {"Description": "Eco", "OnlinePlayers": null, "TotalPlayers": "90"}}', null, 90],
    ['{"Info": {"Description": "Eco", "OnlinePlayers": {}, "OnlinePlayersNames": ["Join us!"]}}', null, null],
  ])('that says %s is online', async (body, onlinePlayers, maxPlayers) => {
    const port = await web((_, response) => response.end(body));
    expect(answerOf(await ask(at(port, 'eco')))).toMatchObject({ onlinePlayers, maxPlayers, motd: 'Eco' });
  });

  it.each([
    ['is forbidden', (response: http.ServerResponse) => response.writeHead(403).end()],
    ['is no JSON', (response: http.ServerResponse) => response.end('<html>')],
    ['has another shape', (response: http.ServerResponse) => response.end('{"Cars": 7}')],
  ])('whose second answer %s keeps the first one (Assetto Corsa)', async (_, second) => {
    const port = await web((request, response) => {
      if (request.url?.startsWith('/INFO')) {
        response.end(JSON.stringify({ name: 'Nordschleife', clients: 12, maxclients: 24, track: 'ks' }));
      } else second(response);
    });
    expect(answerOf(await ask(at(port, 'assettocorsa')))).toMatchObject({
      onlinePlayers: 12,
      maxPlayers: 24,
      motd: 'Nordschleife',
    });
  });

  it('with another protocol counts as a broken answer', async () => {
    const server = await started(new JavaServer());
    server.manner = { answer: Buffer.from('not HTTP at all\r\n\r\n') };
    expect(failureOf(await ask(at(server.port, 'eco')))).toBe('answer-broken');
  });
});
