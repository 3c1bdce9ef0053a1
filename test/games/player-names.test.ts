import { describe, expect, test } from 'vitest';
import { NAME_RULES, type NameKind, nameKindOf } from '../../src/games/player-names.ts';
import { inLanguage } from '../../src/language/language.ts';

const read = (kind: NameKind, typed: string, bedrockPrefix = '.') =>
  NAME_RULES[kind].read(typed, { bedrockPrefix });

/** What becomes of each spelling: the stored name, or null if it is refused. */
function stored(kind: NameKind, typed: string, bedrockPrefix?: string): string | null {
  const found = read(kind, typed, bedrockPrefix);
  return 'name' in found ? found.name : null;
}

const GABE = '76561197960287930';

describe('where a SteamID is asked', () => {
  test.each([
    ['the 17 digits', GABE, GABE],
    ['the first account', '76561197960265729', '76561197960265729'],
    ['the last account', '76561202255233023', '76561202255233023'],
    ['digits of a wide keyboard', '７６５６１１９７９６０２８７９３０', GABE],
    ['the older form', 'STEAM_0:0:11101', GABE],
    ['the older form, as newer games write it', 'STEAM_1:0:11101', GABE],
    ['the older form in small letters', 'steam_0:1:0', '76561197960265729'],
    ['the newer form', '[U:1:22202]', GABE],
    ['the newer form in small letters', '[u:1:22202]', GABE],
    ['a profile', `https://steamcommunity.com/profiles/${GABE}`, GABE],
    ['a profile with http', `http://steamcommunity.com/profiles/${GABE}`, GABE],
    ['a profile without a scheme', `steamcommunity.com/profiles/${GABE}`, GABE],
    ['a profile with www', `https://www.steamcommunity.com/profiles/${GABE}`, GABE],
    ['a profile with a slash at its end', `https://steamcommunity.com/profiles/${GABE}/`, GABE],
    ['a profile with a query', `https://steamcommunity.com/profiles/${GABE}/?l=german`, GABE],
    ['a profile with a query and no slash', `https://steamcommunity.com/profiles/${GABE}?l=german#top`, GABE],
    ['a page of a profile', `https://steamcommunity.com/profiles/${GABE}/games/?tab=all`, GABE],
    ['a profile in the newer form', 'https://steamcommunity.com/profiles/[U:1:22202]', GABE],
  ])('%s is taken', (_, typed, expected) => {
    expect(stored('steam', typed)).toBe(expected);
  });

  test.each([
    ['a name', 'RustPlayer Bob'],
    ['no account', '76561197960265728'],
    ['a number above the last account', '76561202255233024'],
    ['a group', '103582791429521412'],
    ['a game server', '85568392920039424'],
    ['another instance', '76561206550200320'],
    ['16 digits', GABE.slice(1)],
    ['18 digits', `${GABE}0`],
    ['17 digits of another range', '12345678901234567'],
    ['digits with a space', '7656119796028 7930'],
    ['the older form of another universe', 'STEAM_2:0:11101'],
    ['the older form of no account', 'STEAM_0:0:0'],
    ['the older form with a number that is too high', 'STEAM_0:0:2147483648'],
    ['the older form with a wrong first number', 'STEAM_0:2:11101'],
    ['a pending id', 'STEAM_ID_PENDING'],
    ['a group in the newer form', '[g:1:4]'],
    ['the newer form without brackets', 'U:1:22202'],
    ['no account in the newer form', '[U:1:0]'],
    ['a number that is too high in the newer form', '[U:1:4294967296]'],
    ['a profile of another site', `https://steamcommunity.com.example.org/profiles/${GABE}`],
    ['a profile of a group', 'https://steamcommunity.com/groups/Valve'],
    ['a link that only ends like a profile', `https://example.org/?steamcommunity.com/profiles/${GABE}`],
    ['a profile with text after it', `https://steamcommunity.com/profiles/${GABE} Bob`],
    ['a profile without digits', 'https://steamcommunity.com/profiles/'],
  ])('%s is refused, with the way to the digits', (_, typed) => {
    expect(read('steam', typed)).toEqual({
      error: expect.stringContaining('This is not a SteamID. It has 17 digits'),
      mayBeOlder: false,
    });
  });

  test.each([
    'https://steamcommunity.com/id/gabelogannewell',
    'steamcommunity.com/id/76561197960287930/',
  ])('the address of a profile with a chosen name says what to do: %s', (typed) => {
    expect(read('steam', typed)).toMatchObject({ error: expect.stringContaining('a name of your choice') });
  });
});

describe('where a Minecraft name is asked', () => {
  test.each([
    ['Steve', 'Steve'],
    ['Bob', 'Bob'],
    ['_x_', '_x_'],
    ['Sixteen_letters_', 'Sixteen_letters_'],
    ['.Bob', '.Bob'],
    ['.Big Bob 22', '.Big_Bob_22'],
    ['.Ünal', '.Ünal'],
    ['.Sixteen_letters_', '.Sixteen_letters'],
  ])('%s is taken', (typed, expected) => {
    expect(stored('minecraft', typed)).toBe(expected);
  });

  test.each([
    'Bo',
    'Seventeen_letters',
    'Big Bob',
    'Stève',
    'Steve!',
    'Ｓｔｅｖｅ',
    '*Bob',
    '.',
    '..Bob',
    '.B!b',
    `.${'x'.repeat(17)}`,
  ])('%s is refused', (typed) => {
    expect(stored('minecraft', typed)).toBeNull();
  });

  test('an owner’s own prefix replaces the dot, and without one no name of Bedrock Edition is taken', () => {
    expect(stored('minecraft', '*Bob', '*')).toBe('*Bob');
    expect(stored('minecraft', '.Bob', '*')).toBeNull();
    expect(stored('minecraft', '.Bob', '')).toBeNull();
    expect(stored('minecraft', 'BE_Sixteen_letters_', 'BE_')).toBe('BE_Sixteen_lette');
  });

  test.each([
    ['Bo', true],
    ['Seventeen_letters', true],
    ['Big Bob', false],
    ['x'.repeat(26), false],
  ])('%s may be a name of the first years: %s', (typed, mayBeOlder) => {
    expect(read('minecraft', typed)).toMatchObject({ mayBeOlder });
  });
});

describe('where a gamertag is asked', () => {
  test.each([
    ['Steve', 'Steve'],
    ['Big Bob 1234', 'Big Bob 1234'],
    ['Big  Bob', 'Big Bob'],
    ['さくら', 'さくら'],
    ['7', '7'],
    ['Sixteen letters1', 'Sixteen letters1'],
  ])('%s is stored as %s', (typed, name) => {
    expect(stored('bedrock', typed)).toBe(name);
  });

  test.each(['😀', '.Dot', 'x'.repeat(20), 'Bob!', 'a@example.org'])('%s is refused', (typed) => {
    expect(read('bedrock', typed)).toMatchObject({ mayBeOlder: true });
  });
});

test('where any name is asked, any is taken as it is', () => {
  for (const typed of ['Big Bob!', GABE, 'さくら']) expect(stored('name', typed)).toBe(typed);
});

test.each([
  ['minecraft', 'minecraft'],
  ['mbe', 'bedrock'],
  ['bedrock', 'bedrock'],
  ['rust', 'steam'],
  ['ase', 'steam'],
  // An id that gamedig has renamed.
  ['7d2d', 'steam'],
  ['valheim', 'name'],
  [null, 'name'],
] as const)('a server of the game %s asks for %s', (game, kind) => {
  expect(nameKindOf(game)).toBe(kind);
});

test('each refusal has a German text', () => {
  inLanguage('de', () => {
    expect(read('steam', 'Bob')).toMatchObject({ error: expect.stringContaining('Das ist keine SteamID.') });
    expect(read('minecraft', 'B')).toMatchObject({ error: expect.stringContaining('kein Minecraft-Name') });
    expect(read('bedrock', '😀')).toMatchObject({ error: expect.stringContaining('kein Gamertag') });
  });
});
