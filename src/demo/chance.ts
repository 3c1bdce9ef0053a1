/** A number from 0 to 1 that looks drawn, and is the same for the same `seed`. */
export function chance(seed: number): number {
  const wave = Math.sin(seed * 12.9898) * 43_758.5453;
  return wave - Math.floor(wave);
}
