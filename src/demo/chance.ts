/** A pseudo-random number from 0 to 1. The same `seed` gives the same number. */
export function chance(seed: number): number {
  const wave = Math.sin(seed * 12.9898) * 43_758.5453;
  return wave - Math.floor(wave);
}
