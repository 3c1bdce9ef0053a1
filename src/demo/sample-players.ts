/** From 0 to 1. The same `seed` gives the same number. */
export function chance(seed: number): number {
  const wave = Math.sin(seed * 12.9898) * 43_758.5453;
  return wave - Math.floor(wave);
}

const FIRST =
  'Amber Brave Copper Dusty Eager Frosty Gentle Happy Icy Jolly Kind Lunar Misty Noble Odd Pixel Quick Rusty Silent Wild';
const LAST =
  'Badger Comet Dragon Ember Falcon Goose Heron Island Jackal Kraken Lantern Moose Newt Otter Pickaxe Quail Raven Squid Turtle Wolf';

const first = FIRST.split(' ');
const last = LAST.split(' ');
const NUMBERS = 90;
const NAMES = first.length * last.length * NUMBERS;

/** The step from one player to the next: a prime, so every name is used before one repeats. */
const STEP = 104_729;

const made = new RegExp(`^(${first.join('|')})(${last.join('|')})\\d\\d$`);

/** `number` 0, 1, 2, … give different names, up to 36,000, of at most 16 characters. */
export function samplePlayer(seed: number, number: number): string {
  const index = Math.floor(chance(seed) * NAMES + number * STEP) % NAMES;
  const digits = 10 + (index % NUMBERS);
  const pair = Math.floor(index / NUMBERS);
  return `${first[pair % first.length]}${last[Math.floor(pair / first.length)]}${digits}`;
}

export function isSamplePlayer(username: string): boolean {
  return made.test(username);
}
