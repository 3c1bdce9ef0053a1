import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ask } from '../support/api-description.ts';
import { startApp, type TestDeps, type TestServer } from '../support/start-app.ts';

let tallyport: TestDeps;
let server: TestServer;
beforeAll(async () => {
  tallyport = await startApp();
  server = await tallyport.addServer();
});
afterAll(() => tallyport.close());

/** Sends `bytes`, closes our side of the connection, and reads until the other side is closed too. */
async function sendAndHalfClose(bytes: string): Promise<string> {
  const { hostname, port } = new URL(tallyport.url);
  const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true });
  await once(socket, 'connect');
  socket.end(bytes);
  return text(socket);
}

describe('a client that closes its side after its request', () => {
  const vote = (body: string, length = body.length) =>
    `POST /api/v1/servers/${server.serverId}/vote HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${server.token}\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n${body}`;

  test('gets the answer to its vote', async () => {
    const answer = await sendAndHalfClose(vote('{"username":"Steve"}'));
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(answer).toContain('"success":true');
  });

  test('with half a body gets 400, and nothing is cast', async () => {
    expect(await sendAndHalfClose(vote('{"username":"Alex"', 30))).toMatch(/^HTTP\/1\.1 400 /);
    expect(await tallyport.deps.votes.countDocuments({ usernameKey: 'alex' })).toBe(0);
  });

  test('after two requests gets two answers', async () => {
    const get = 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n';
    expect((await sendAndHalfClose(get + get)).match(/HTTP\/1\.1 200 OK/g)).toHaveLength(2);
  });

  test('before any request is disconnected', async () => {
    expect(await sendAndHalfClose('')).toBe('');
  });
});

const DOC_URL = 'http://localhost:3000/docs/errors#not-found';

test('an encoded slash does not separate a path, but is part of a slug that no server has: 404', async () => {
  const { status, body } = await ask(`${tallyport.url}/api/v1/servers/${server.serverId}%2finfo`);
  expect([status, body]).toEqual([
    404,
    { error: 'No server is listed under this name.', code: 'not-found', doc_url: DOC_URL },
  ]);
});

test('the error mentions a trailing slash', async () => {
  for (const method of ['GET', 'POST']) {
    const { status, body } = await ask(`${tallyport.url}/api/v1/servers/${server.serverId}/vote/`, {
      method,
    });
    expect([status, body]).toEqual([
      404,
      {
        error: 'There is nothing at this address: leave out the slash at its end.',
        code: 'not-found',
        doc_url: DOC_URL,
      },
    ]);
  }
  const { body } = await ask(`${tallyport.url}/api/v1/servers/${server.serverId}/nothing/`);
  expect(body).toMatchObject({ error: 'There is nothing at this address.', code: 'not-found' });
});
