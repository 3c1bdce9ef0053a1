/**
 * Left halves of symmetrical drawings of 16 × 14 squares, row by row: `#` is a square of the body, `o` one of the
 * lighter marks.
 */
const DRAWN = {
  shield:
    '.####### .#oooooo .#o##### .#o####o .#o###oo .#o##ooo .#o#oooo .#o##ooo ..#o##oo ..##o##o ...##o## ....##oo .....### .......#',
  sword:
    '.......# ......#o ......#o ......#o ......#o ......#o ......#o ......#o ..##..#o ..###### ...##### .......o .......o ......##',
  swords:
    'oo...... ooo..... .ooo.... ..ooo... ...ooo.. ....ooo. .....ooo ......oo .....ooo .#..ooo. .##ooo.. ..###... .####... ##..##..',
  castle:
    '.##..##. .##..##. .####### .####### ..###### ..##o### ..##o### ..###### ..####oo ..###ooo ..###ooo ..###ooo .####ooo .####ooo',
  gem: '........ ...##### ..#ooo## .#ooo### #ooo#### ######## .##oo### ..##oo## ...##oo# ....##oo .....### ......## .......# ........',
  skull:
    '...ooooo ..oooooo .ooooooo .ooooooo .o###ooo .o###ooo .o###ooo .oooooo# ..ooooo# ...ooooo ...o#o#o ...o#o#o ...ooooo ........',
  tree: '.......# ......## .....#o# ....#oo# ......## .....o## ....oo## ...##### .....### ....oo## ...oo### ..###### .......o .......o',
  flame:
    '.......# ......## .....### ..#..### ..##.### .###.##o .######o ######oo #####ooo ####oooo ####oooo .####ooo ..####oo ....####',
  crown:
    '........ ........ #......# ##....## ##...### ###..### ####.### ######## ##oo##oo ######## ######## oooooooo ........ ........',
  heart:
    '........ ..####.. .######. .#oo#### .#oo#### .####### .####### ..###### ...##### ....#### .....### ......## .......# ........',
  house:
    '.......# ......## .....### ....#### ...##### ..###### .####### ..oooooo ..oo##oo ..oo##oo ..oooo## ..oooo## ..oooo## ........',
  star: '.......# ......## ......## .....##o ######## .###oooo ..##oooo ...#oooo ...##ooo ...##o## ..####.. ..###... .##..... ........',
  target:
    '.......# ....#### ..##...# ..#....# .#...... .#...... ####..oo ####..oo .#...... .#...... ..#....# ..##...# ....#### .......#',
  gear: '......## ..#..### .####### ..####oo ..###o.. .###o... ####o... ####o... .###o... ..###o.. ..####oo .####### ..#..### ......##',
  mountain:
    '........ .......o ......oo ......oo .....o#o .....### ....#### ....#### ..#.#### .####### .####### ######## ######## ........',
  flask:
    '.....ooo ......#. ......#. ......#. .....#.. ....#... ...#.... ..#ooooo ..#ooooo .#oooooo .#oooooo .####### ..###### ........',
  mushroom:
    '........ .....### ...##### ..##oo## .###oo## .####### #o####oo #o####oo ######## .....ooo .....ooo .....ooo ....oooo ........',
  coin: '........ ....#### ..##oooo .##oo### .#oo###o ##o###oo ##o####o ##o####o ##o####o .#oo##oo .##oo### ..##oooo ....#### ........',
  lock: '....#### ...##... ...#.... ...#.... ...#.... .ooooooo .ooooooo .oooooo# .ooooo## .oooooo# .oooooo# .ooooooo .ooooooo ........',
  bars: 'oooooooo .##.##.# .##.##.# .##.##.# .##.##.# .##.##.# oooooooo .##.##.# .##.##.# .##.##.# .##.##.# .##.##.# .##.##.# oooooooo',
  island:
    '........ .......# ......## ...##### .####### ######## oooooooo .ooooooo ..oooooo ...oo.oo ....o.oo ......oo .......o ........',
  gamepad:
    '........ ........ ........ ..#####. .####### ###o#### ##ooo### ###o#### ######## ####..## ###..... ##...... ........ ........',
  trophy:
    '..oooooo ######## #.###### #.##o### ##.#o### .####### ...##### ....#### ......## ......## .....ooo ...##### ...##### ........',
  helmet:
    '........ ....#### ..###### .####### .####### .######o .#ooooo# .#ooooo# .######o .#####.o .####..o ..###... ........ ........',
} as const;

type Motif = keyof typeof DRAWN;

const MOTIFS = Object.keys(DRAWN) as Motif[];

const KNOWN = new Map(
  Object.entries<Motif>({
    adventure: 'mountain',
    anarchy: 'flame',
    arma3: 'helmet',
    asa: 'mountain',
    ase: 'mountain',
    building: 'castle',
    casual: 'mushroom',
    'co-op': 'trophy',
    counterstrike2: 'target',
    creative: 'star',
    'cross-play': 'gamepad',
    csgo: 'target',
    economy: 'coin',
    factions: 'shield',
    'family-friendly': 'heart',
    garrysmod: 'gear',
    hardcore: 'skull',
    lifesteal: 'heart',
    mbe: 'island',
    minigames: 'gamepad',
    modded: 'gear',
    prison: 'bars',
    projectzomboid: 'skull',
    pve: 'sword',
    pvp: 'swords',
    quests: 'flask',
    roleplay: 'crown',
    skyblock: 'island',
    smp: 'house',
    survival: 'tree',
    teamfortress2: 'flask',
    towny: 'castle',
    unturned: 'house',
    vanilla: 'gem',
    whitelist: 'lock',
  }),
);

/** If `KNOWN` does not have the text, the number `chance` selects a motif. */
export function motifOf(text: string, chance: number): string[] {
  const motif = KNOWN.get(text) ?? MOTIFS[chance % MOTIFS.length] ?? 'shield';
  return DRAWN[motif].split(' ');
}
