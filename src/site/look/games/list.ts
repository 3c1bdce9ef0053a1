/** The games for which this folder has a drawing, by their ids in gamedig. */
export const GAME_PICTURES = [
  'factorio',
  'minecraft',
  'minetest',
  'rust',
  'terrariatshock',
  'valheim',
] as const;
