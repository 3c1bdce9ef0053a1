import { describe, expect, it } from 'vitest';
import { readPong } from '../../../src/probing/protocols/bedrock.ts';

const MAGIC = '00ffff00fefefefefdfdfdfd12345678';

/** A pong with this text; `length` replaces its length in bytes. */
function pong(
  text: string,
  { length, id = '1c', magic = MAGIC }: Partial<Record<'id' | 'magic', string>> & { length?: number } = {},
): Buffer {
  const bytes = Buffer.from(text);
  const size = Buffer.alloc(2);
  size.writeUInt16BE(length ?? bytes.length);
  return Buffer.concat([Buffer.from(`${id}0000000000000001000000000000002a${magic}`, 'hex'), size, bytes]);
}

const REST = '13253860892328930865;Bedrock level;Survival;1;19132;19133;';

describe('A Bedrock server', () => {
  it.each([
    ['MCPE;A server;766;1.21.50;42;200', 'A server', '1.21.50', '42', '200'],
    [`MCPE;A server;766;1.21.50;42;200;${REST}`, 'A server', '1.21.50', '42', '200'],
    [`MCPE;A server;766;1.21.50;42;200;${REST}extra;fields;1;2;3;4;5`, 'A server', '1.21.50', '42', '200'],
    [`MCEE;A school;0;1.21.50;1;30;${REST}`, 'A school', '1.21.50', '1', '30'],
    // Escaped semicolons and backslashes.
    [`MCPE;EU\\; EGGWARS;766;1.21.50;42;200;${REST}`, 'EU; EGGWARS', '1.21.50', '42', '200'],
    [`MCPE;\\;\\;;766;1.21.50;42;200;${REST}`, ';;', '1.21.50', '42', '200'],
    [`MCPE;C:\\\\games\\\\;766;1.21.50;42;200;${REST}`, 'C:\\games\\', '1.21.50', '42', '200'],
    [`MCPE;a\\\\\\;b;766;1.21.50;42;200;${REST}`, 'a\\;b', '1.21.50', '42', '200'],
    [`MCPE;\\o/;766;1.21.50;42;200;${REST}`, '\\o/', '1.21.50', '42', '200'],
    // A server that does not escape.
    [`MCPE;ends with \\;766;1.21.50;42;200;${REST}`, 'ends with \\', '1.21.50', '42', '200'],
    // One odd field.
    ['MCPE;A server;766;1.21.50;many;200', 'A server', '1.21.50', 'many', '200'],
    ['MCPE;A server;;;3;9', 'A server', '', '3', '9'],
    ['MCPE;;766;1.21.50;42;200', '', '1.21.50', '42', '200'],
    ['MCPE;A server;-1;Any version;-1;99999999999', 'A server', 'Any version', '-1', '99999999999'],
  ])('that says %s is read', (text, name, version, players, maxPlayers) => {
    expect(readPong(pong(text))).toEqual({ name, version, players, maxPlayers });
  });

  it.each([
    ['a semicolon that is not escaped', `MCPE;EU; EGGWARS;766;1.21.50;42;200;${REST}`, 'EU'],
    ['a number after such a semicolon', `MCPE;Top;1;766;1.21.50;42;200;${REST}`, 'Top'],
    ['several of them', `MCPE;1;2;three;766;1.21.50;42;200;${REST}`, '1'],
    ['missing fields in the middle', 'MCPE;A server;1.21.50;42;200', 'A server'],
    ['fields in another order', 'MCPE;A server;766;42;200;1.21.50', 'A server'],
  ])('with %s keeps its name, and its numbers are unknown', (_, text, name) => {
    expect(readPong(pong(text))).toEqual({ name, version: '', players: null, maxPlayers: null });
  });

  it('with only an edition and a name is known by its name', () => {
    expect(readPong(pong('MCPE;A server'))).toMatchObject({ name: 'A server', version: '' });
  });

  it('whose text is cut off or longer than said is read as far as it goes', () => {
    const text = 'MCPE;A server;766;1.21.50;42;200';
    expect(readPong(pong(text, { length: 500 }))).toMatchObject({ players: '42', maxPlayers: '200' });
    expect(readPong(pong(`${text};1;2`, { length: text.length }))).toMatchObject({ maxPlayers: '200' });
  });

  it.each([
    ['64 zero bytes', Buffer.alloc(64)],
    ['nothing', Buffer.alloc(0)],
    ['another packet', pong('MCPE;A;1;1.21.50;1;2', { id: '1d' })],
    ['another mark', pong('MCPE;A;1;1.21.50;1;2', { magic: MAGIC.replace('12345678', '87654321') })],
    ['HTTP', Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'.repeat(3))],
  ])('is not recognized by %s, which is ignored', (_, datagram) => {
    expect(readPong(datagram)).toBeUndefined();
  });

  it.each([
    ['a header alone', pong('').subarray(0, -2)],
    ['an empty text', pong('')],
    ['one word', pong('MCPE')],
    ['empty fields', pong('MCPE;;;;;')],
  ])('is not recognized by %s', (_, datagram) => {
    expect(() => readPong(datagram)).toThrow(expect.objectContaining({ code: 'answer-broken' }));
  });
});
