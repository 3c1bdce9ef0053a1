import { describe, expect, it } from 'vitest';
import { gameOf } from '../../src/games/games.ts';
import { decodeText, textFormatOf } from '../../src/games/text-formats.ts';
import { notABot, readQuakeStatus, statusSaid } from '../../src/probing/protocols/quake.ts';
import { readServerAnswer } from '../../src/probing/read-answer.ts';

/** How a name with these bytes is shown. */
function shown(game: string, bytes: Buffer | string): string {
  const known = gameOf(game);
  const name = decodeText(Buffer.from(bytes), textFormatOf(known));
  return readServerAnswer({ name, version: '', players: 0, maxPlayers: 0 }, known, 0).motd;
}

const bytes = (hex: string) => Buffer.from(hex, 'hex');
const latin1 = (text: string) => Buffer.from(text, 'latin1');

/** The characters of windows-1251 by their bytes. */
const WINDOWS_1251 = [
  ...new TextDecoder('windows-1251').decode(Uint8Array.from({ length: 256 }, (_, n) => n)),
];
const windows1251 = (text: string) =>
  Buffer.from([...text].map((character) => WINDOWS_1251.indexOf(character)));

describe('A name is shown as the game’s client shows it', () => {
  it.each<[game: string, name: Buffer | string, shown: string]>([
    ['fivem', '^1Los ^2Santos^0', 'Los Santos'],
    ['fivem', '^3[DE] ^7Köln ^9RP', '[DE] Köln RP'],
    ['redm', '^5Blackwater ^ 1899 ^x', 'Blackwater ^ 1899 ^x'],
    ['fivem', 'a^b^8c', 'a^bc'],
    ['q3a', '^1CTF ^7Arena', 'CTF Arena'],
    ['q3a', '^xCTF ^^2two', 'CTF ^two'],
    ['q3a', bytes('4bf66c6e'), 'Köln'],
    ['q3a', 'Köln', 'Köln'],
    ['openarena', '^4', ''],
    ['warsow', '^^ ^5blue^', '^ blue^'],
    ['xonotic', '^xF00Red ^x0af^7plain ^x12', 'Red plain ^x12'],
    ['xonotic', '^^1 is a caret, ^1not', '^1 is a caret, not'],
    ['xonotic', 'Ω ^x9A9Дом', 'Ω Дом'],
    ['quake1', bytes('d1f5e1ebe5129c13'), 'Quake0·1'],
    ['samp', bytes('cff0e8e2e5f2'), 'Привет'],
    ['samp', bytes('d1e0ecef20524f4c455ab8'), 'Самп ROLEZё'],
    ['gtasao', 'Привет', 'Привет'],
    ['vcmp', bytes('c2e0e9f120d1e8f2e8'), 'Вайс Сити'],
    ['samp', 'Plain', 'Plain'],
    // Windows-1252: accents between plain letters.
    ['samp', latin1('[BR] Família São João - Ação RPG'), '[BR] Família São João - Ação RPG'],
    ['samp', latin1('NAÇÃO ROLEPLAY'), 'NAÇÃO ROLEPLAY'],
    ['samp', latin1('» España « más'), '» España « más'],
    ['gtasao', latin1('Größe Köln Straße'), 'Größe Köln Straße'],
    ['gtasao', latin1('Île créée à Orléans'), 'Île créée à Orléans'],
    ['vcmp', latin1('Älä häiritse'), 'Älä häiritse'],
    // Windows-1251: words of Cyrillic letters, also beside Latin ones.
    ['samp', windows1251('Гранд RP | Бонус x2'), 'Гранд RP | Бонус x2'],
    ['samp', windows1251('Samp-Rp 02 | Дом у моря, и всё'), 'Samp-Rp 02 | Дом у моря, и всё'],
    ['samp', windows1251('RPGсервер'), 'RPGсервер'],
    ['gtasao', windows1251('Україна – наш дім'), 'Україна – наш дім'],
    ['samp', windows1251('Я и RP'), 'Я и RP'],
    ['teamspeak3', 'A\\sroom\\pwith\\/all\\\\of\\sit', 'A room|with/all\\of it'],
    ['teamspeak3', 'one\\ntwo\\tthree\\a', 'one\ntwo three'],
    ['teamspeak3', '\\\\s is a backslash', '\\s is a backslash'],
    ['rust', '<color=#ff0000>Rusty</color> <b>Moose</b>', 'Rusty Moose'],
    ['rust', '<size=20>EU <3 x>5</SIZE>', 'EU <3 x>5'],
    ['unturned', '<color="red">Zombies</color> <#0f0>now', 'Zombies now'],
    ['unturned', '<EU> <color=red', '<EU> <color=red'],
    ['css', '<b>stays</b> ^1', '<b>stays</b> ^1'],
  ])('%s: %s is %s', (game, name, expected) => {
    expect(shown(game, name)).toBe(expected);
  });
});

it.each([
  ['1.21.4', '1.21.4'],
  ['20241126', '20241126'],
  ['v1.0.0.7290', 'v1.0.0.7290'],
  ['decade', 'decade'],
  ['-1362142591', ''],
  ['3f9a0c1', ''],
  ['D41D8CD98F00B204E9800998ECF8427E', ''],
  ['b7e23ec29af22b0b4e41da31e868d57226121c84', ''],
  ['123e4567-e89b-12d3-a456-426614174000', ''],
])('the version %s is shown as «%s»', (version, expected) => {
  const said = { name: 'x', version, players: 0, maxPlayers: 0 };
  expect(readServerAnswer(said, gameOf('css'), 0).version).toBe(expected);
});

describe('A Quake server', () => {
  const head = '\xff\xff\xff\xffstatusResponse\n';
  it.each([
    ['lines of people', '\\sv_hostname\\A\\sv_maxclients\\8\n5 48 "Ada"\n0 999 "Bob joins"\n', 2],
    ['bots', '\\sv_hostname\\A\\sv_maxclients\\8\n5 0 "Sarge"\n1 12 "Ada"\n9 0 "Major"\n', 1],
    ['a quote in a name', '\\sv_hostname\\A\\sv_maxclients\\8\n5 48 "A" B"\n', 1],
    ['a number of clients and bots', '\\hostname\\A\\clients\\7\\bots\\3\n5 48 "Ada"\n', 4],
    ['more bots than clients, which are people then', '\\hostname\\A\\clients\\2\\bots\\3\n', 2],
    ['a number of people', '\\hostname\\A\\clients\\7\\g_humanplayers\\2\n', 2],
    ['nobody', '\\hostname\\A\\sv_maxclients\\8\n', 0],
    ['an odd number', '\\hostname\\A\\clients\\?\\sv_maxclients\\8\n1 30 "Ada"\n\0rest\n', 1],
  ])('with %s is counted by its people', (_, body, players) => {
    const status = readQuakeStatus(Buffer.from(`${head}${body}`, 'latin1'), 'statusResponse\n');
    expect(status && statusSaid(status, textFormatOf(gameOf('q3a')), notABot(1))).toMatchObject({ players });
  });
});
