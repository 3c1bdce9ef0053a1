import { expect, test } from 'vitest';
import { type Joined, joinSteps } from '../../src/games/join-steps.ts';
import { inLanguage } from '../../src/language/language.ts';
import { t } from '../../src/language/t.ts';

const HERE = { address: 'play.example.org', port: 27_015 };
const stepsOf = (server: Partial<Joined>) => joinSteps({ ...HERE, ...server }).steps.map((step) => t(step));
const linkOf = (server: Partial<Joined>) => joinSteps({ ...HERE, ...server }).link;

test('names the menus of the game and the address', () => {
  expect(stepsOf({ game: 'minecraft', port: 25_565 })).toEqual([
    'Open Minecraft.',
    'Choose “Multiplayer”, then “Add Server”.',
    'Paste the address: play.example.org:25565',
  ]);
  expect(stepsOf({ game: 'mbe' }).at(-1)).toBe('Enter the address play.example.org and the port 27015.');
  expect(stepsOf({ game: 'rust' }).at(-1)).toBe('Enter: client.connect play.example.org:27015');
  expect(inLanguage('de', () => stepsOf({ game: 'minecraft' }))[0]).toBe('Öffne Minecraft.');
});

test('a game without known menus, and a server without a game, get the address', () => {
  const last = 'Enter the address where the game asks for a server: [2001:db8::1]:27015';
  expect(stepsOf({ game: 'openttd', address: '2001:db8::1' })).toEqual(['Open OpenTTD.', last]);
  expect(stepsOf({ game: null, address: '2001:db8::1' })).toEqual([last]);
  expect(stepsOf({ game: 'no-such-game' })).toHaveLength(1);
});

test('games in Steam’s list have a link that opens them, with the port for queries', () => {
  expect(linkOf({ game: 'counterstrike2' })).toBe('steam://connect/play.example.org:27015');
  expect(linkOf({ game: 'valheim', port: 2_456 })).toBe('steam://connect/play.example.org:2457');
  expect(linkOf({ game: 'valheim', port: 2_456, queryPort: 9_000 })).toBe(
    'steam://connect/play.example.org:9000',
  );
  expect(linkOf({ game: 'ase', port: 7_777 })).toBe('steam://connect/play.example.org:27015');
  // Only the usual port has the fixed query port beside it, as gamedig's rule for checks says.
  expect(linkOf({ game: 'ase', port: 7_787 })).toBe('steam://connect/play.example.org:7787');
  // The port for players plus the game's offset would be above 65535.
  expect(linkOf({ game: 'dayz', port: 50_000 })).toBe('steam://connect/play.example.org:50000');
  expect(stepsOf({ game: 'ase', port: 7_777 })).toContain(
    'Press “+” and paste the address: play.example.org:27015',
  );
  expect(linkOf({ game: 'minecraft' })).toBeNull();
  expect(linkOf({ game: null })).toBeNull();
});

test('a link contains nothing but a host name or an IPv4 address', () => {
  for (const address of ['a b', 'x/../y', 'x"onclick', 'x?-applaunch', '-x', '2001:db8::1', ''])
    expect(linkOf({ game: 'rust', address }), address).toBeNull();
  expect(linkOf({ game: 'rust', address: '192.0.2.7' })).toBe('steam://connect/192.0.2.7:27015');
});
