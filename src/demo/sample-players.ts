import { chance } from './chance.ts';

const FIRST =
  'Amber Brave Copper Dusty Eager Frosty Gentle Happy Icy Jolly Kind Lunar Misty Noble Odd Pixel Quick Rusty Silent Wild';
const LAST =
  'Badger Comet Dragon Ember Falcon Goose Heron Island Jackal Kraken Lantern Moose Newt Otter Pickaxe Quail Raven Squid Turtle Wolf';

const first = FIRST.split(' ');
const last = LAST.split(' ');
const NUMBERS = 90;
const NAMES = first.length * last.length * NUMBERS;

/** No multiple of it is one of `NAMES` before all names were given. */
const STEP = 104_729;

const made = new RegExp(`^(${first.join('|')})(${last.join('|')})\\d\\d$`);

/**
 * The made-up players of a place: `number` 0, 1, 2, … have different names, up to 36,000 of them. None is longer
 * than the 16 characters that a Minecraft name may have.
 */
export function samplePlayer(seed: number, number: number): string {
  const index = Math.floor(chance(seed) * NAMES + number * STEP) % NAMES;
  const digits = 10 + (index % NUMBERS);
  const pair = Math.floor(index / NUMBERS);
  return `${first[pair % first.length]}${last[Math.floor(pair / first.length)]}${digits}`;
}

/** Whether this is one of the made-up players, and not somebody who tries the demo. */
export function isSamplePlayer(username: string): boolean {
  return made.test(username);
}
