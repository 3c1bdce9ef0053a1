import { defineMessage, type Text, t } from '../../language/t.ts';

/** By the game's id in gamedig. */
const SENTENCES: Record<string, Text> = {
  minecraft: defineMessage('Mine, build and survive in a world of blocks.'),
  mbe: defineMessage('The world of blocks for phones, consoles and Windows.'),
  minetest: defineMessage('Free voxel worlds with games and mods by their players.'),
  rust: defineMessage('Gather, build and raid on an island where nobody is safe.'),
  valheim: defineMessage('Viking survival for small groups: sail, build, and face the bosses.'),
  terrariatshock: defineMessage('Dig, fight and build in a world seen from the side.'),
  factorio: defineMessage('Automate a factory that never stops growing.'),
  satisfactory: defineMessage('Build factories in the first person on an alien planet.'),
  counterstrike2: defineMessage('Two teams, one bomb, and rounds of two minutes.'),
  csgo: defineMessage('The classic of tactical shooters: two teams and one bomb.'),
  css: defineMessage('The Source engine’s Counter-Strike, loved for surf and zombie maps.'),
  counterstrike16: defineMessage('The original Counter-Strike, still played every evening.'),
  teamfortress2: defineMessage('Nine classes, two teams, and a great many hats.'),
  garrysmod: defineMessage('A sandbox for whatever its players invent, from role play to Prop Hunt.'),
  ase: defineMessage('Tame dinosaurs, found a tribe and survive.'),
  asa: defineMessage('The remake of ARK: tame dinosaurs, found a tribe and survive.'),
  sdtd: defineMessage('Loot and build by day, and hold out on every seventh night.'),
  dayz: defineMessage('Scavenge and survive after an outbreak, among players you cannot trust.'),
  projectzomboid: defineMessage('Slow zombies, scarce food, and a story of how you died.'),
  palworld: defineMessage('Catch creatures, and let them fight and work for you.'),
  conanexiles: defineMessage('Survive, build and conquer in the lands of Conan.'),
  unturned: defineMessage('Zombie survival with simple looks and a lot of freedom.'),
  enshrouded: defineMessage('Explore, build and fight together in a land under a deadly fog.'),
  vrising: defineMessage('Live as a vampire: hunt at night, hide from the sun, raise a castle.'),
  squad: defineMessage('Large battles in which squads and their radios decide.'),
  arma3: defineMessage('Military simulation on large open maps.'),
  gta5f: defineMessage('Role play and races in Los Santos on servers of their own.'),
  gtasam: defineMessage('San Andreas together: role play, races and stunts.'),
};

export function gameSentence(game: string): string | undefined {
  const sentence = new Map(Object.entries(SENTENCES)).get(game);
  return sentence && t(sentence);
}
