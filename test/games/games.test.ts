import { games } from 'gamedig';
import { describe, expect, it } from 'vitest';
import {
  GameError,
  gameOf,
  isProbed,
  knownGame,
  listGames,
  queryPorts,
  whyNotProbed,
} from '../../src/games/games.ts';

function refusalOf(text: string): GameError {
  try {
    gameOf(text);
  } catch (error) {
    if (error instanceof GameError) return error;
  }
  throw new Error(`${text} was taken`);
}

describe('A game is found', () => {
  it.each([
    ['minecraft', 'minecraft'],
    ['Minecraft Java', 'minecraft'],
    ['mc', 'minecraft'],
    ['bedrock', 'mbe'],
    ['minecraftbe', 'mbe'],
    ['cs2', 'counterstrike2'],
    ['Counter-Strike 2', 'counterstrike2'],
    ['csgo', 'csgo'],
    ['Team Fortress 2', 'teamfortress2'],
    ['tf2', 'teamfortress2'],
    ['gmod', 'garrysmod'],
    ['arkse', 'ase'],
    ['7 Days to Die', 'sdtd'],
    ['quake 3', 'q3a'],
    ['  TS3 ', 'teamspeak3'],
  ])('%s is %s', (typed, id) => {
    expect(gameOf(typed).id).toBe(id);
  });

  it('by every id of the list, and never another game instead', () => {
    const asked = Object.keys(games).filter((id) => !listGames().find((game) => game.id === id)?.notAsked);
    expect(asked.length).toBeGreaterThan(300);
    expect(asked.map((id) => gameOf(id).id)).toEqual(asked);
  });

  it('with a name that begins with a capital letter, unless it is spelt otherwise', () => {
    const small = listGames().flatMap(({ name }) => (/^[a-z]/.test(name) ? [name] : []));
    expect(small).toEqual(['netPanzer', 'rFactor', 'rFactor 2']);
  });

  it('with its exact protocol, never the one that tries all of them', () => {
    expect(gameOf('minecraft').protocol).toBe('minecraftvanilla');
    expect(gameOf('mbe').protocol).toBe('minecraftbedrock');
    expect(listGames().filter(({ protocol }) => protocol === 'minecraft')).toEqual([]);
  });
});

describe('A wrong game', () => {
  it.each([
    ['minecaft', 'minecraft (Minecraft)'],
    ['valhiem', 'valheim (Valheim)'],
    ['teamfortres', 'teamfortress2 (Team Fortress 2)'],
    ['conter strike 2', 'counterstrike2 (Counter-Strike 2)'],
  ])('%s is answered with %s', (typed, near) => {
    const refusal = refusalOf(typed);
    expect(refusal).toMatchObject({ code: 'game-unknown' });
    expect(refusal.code).toBe('game-unknown');
    expect(refusal.message).toContain(`There is no game “${typed}” in the list. Similar: `);
    expect(refusal.message).toContain(near);
  });

  it('without a similar game gets a message that says so', () => {
    expect(refusalOf('zzzzzzzzzz').message).toMatch(/No game in the list is similar\.$/);
    expect(refusalOf('…').message).toMatch(/No game in the list is similar\.$/);
  });

  it.each([
    ['asa', /Ark: Survival Ascended servers cannot be queried: .* a service on the internet/],
    ['discord', /a service on the internet/],
    ['palworld', /only to a password or key/],
    ['trackmania2', /only to a password or key/],
  ])('%s cannot be queried, and the message says why', (id, says) => {
    const refusal = refusalOf(id);
    expect(refusal.code).toBe('game-not-asked');
    expect(refusal.message).toMatch(says);
    expect(knownGame(id).id).toBe(id);
    expect(isProbed(id)).toBe(false);
    expect(whyNotProbed(id)).toMatch(says.source.includes('internet') ? /internet/ : /password/);
  });
});

describe('The list of games', () => {
  it('has every game once, by name, and says which cannot be queried', () => {
    const listed = listGames();
    expect(listed.map(({ id }) => id).toSorted()).toEqual(Object.keys(games).toSorted());
    const names = listed.map(({ name }) => name);
    expect(names).toEqual(names.toSorted((a, b) => a.localeCompare(b, 'en')));
    expect(listed.find(({ id }) => id === 'squad')?.notAsked).toMatch(/internet/);
    expect(listed.find(({ id }) => id === 'minecraft')?.notAsked).toBeNull();
  });

  it('is searched by id, name and alias', () => {
    expect(listGames('minecraft').map(({ id }) => id)).toEqual(['minecraft', 'mbe']);
    expect(listGames('gmod').map(({ id }) => id)).toEqual(['garrysmod']);
    expect(listGames('no such game')).toEqual([]);
  });
});

describe('The query port', () => {
  const portsOf = (game: string, port: number, queryPort: number | null = null) =>
    queryPorts({ port, queryPort }, gameOf(game));

  it('is the owner’s setting', () => {
    expect(portsOf('arma3', 2302, 4000)).toEqual([4000]);
  });

  it('is the players’ port if the game has no rule', () => {
    expect(portsOf('minecraft', 25_565)).toEqual([25_565]);
  });

  it('is the players’ port plus an offset if the game has one', () => {
    expect(portsOf('arma3', 2402)).toEqual([2403, 2402]);
    expect(portsOf('vrising', 9876)).toEqual([9877, 9891, 9876]);
  });

  it('is fixed if players use the usual port', () => {
    expect(portsOf('ase', 7777)).toEqual([27_015, 7777]);
    expect(portsOf('ase', 7780)).toEqual([7780]);
  });

  it('is always a valid port', () => {
    expect(portsOf('atlas', 60_000)).toEqual([60_000]);
  });
});
