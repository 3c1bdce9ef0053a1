/** Red, green and blue, 0 to 255. */
type Colour = [number, number, number];

/**
 * `soft`: background of marked parts; `on`: text of buttons; `deep`: head of a page, with `onDeepSoft` for its quieter
 * text and `deepEdge` for its edges.
 */
type Shades = {
  accent: string;
  soft: string;
  on: string;
  deep: string;
  onDeepSoft: string;
  deepEdge: string;
};

/**
 * `grounds` and `card`: backgrounds of site.css. An accent with too little contrast is mixed with `towards`. `tint`:
 * share of the accent in `soft`. `depth`: contrast of the head with its text.
 */
const SCHEMES = {
  light: {
    grounds: ['#eaf0ef', '#ffffff'],
    card: '#ffffff',
    towards: '#000000',
    on: '#ffffff',
    tint: 0.1,
    depth: 11,
  },
  dark: {
    grounds: ['#0b1416', '#132023'],
    card: '#132023',
    towards: '#ffffff',
    on: '#08201f',
    tint: 0.2,
    depth: 14,
  },
} as const;

/** The minimum contrast for text in WCAG 2.2, level AA. */
const LEAST_CONTRAST = 4.5;
/** The head of a page is dark in both schemes. `soft` and `edge` are contrasts. */
const ON_DEEP = { text: '#f1f7f4', soft: 7, edge: 4 };
const STEP = 0.02;

/** The shades of a colour such as `#0f6168`, made darker or lighter until its contrast as text is at least 4.5 : 1. */
export function accentShades(colour: string): { light: Shades; dark: Shades } {
  return { light: shadesOf(colour, 'light'), dark: shadesOf(colour, 'dark') };
}

function shadesOf(colour: string, scheme: keyof typeof SCHEMES): Shades {
  const { grounds, card, towards, on, tint, depth } = SCHEMES[scheme];
  const softOf = (accent: string) => mixed(card, accent, tint);
  const accent = mixedUntil(colour, towards, (shade) =>
    [...grounds, softOf(shade), on].every((ground) => contrast(shade, ground) >= LEAST_CONTRAST),
  );
  const deep = mixedUntil(colour, '#000000', (shade) => contrast(shade, ON_DEEP.text) >= depth);
  const onDeep = (least: number) => mixedUntil(deep, '#ffffff', (shade) => contrast(shade, deep) >= least);
  return {
    accent,
    soft: softOf(accent),
    on,
    deep,
    onDeepSoft: onDeep(ON_DEEP.soft),
    deepEdge: onDeep(ON_DEEP.edge),
  };
}

/** Mixes in more and more of `other`, until `isRight`. */
function mixedUntil(one: string, other: string, isRight: (colour: string) => boolean): string {
  for (let part = 0; part < 1; part += STEP) {
    const colour = mixed(one, other, part);
    if (isRight(colour)) return colour;
  }
  return other;
}

/** By WCAG: 1 to 21. */
export function contrast(one: string, other: string): number {
  const [light, dark] = [luminance(one), luminance(other)].toSorted((a, b) => b - a) as [number, number];
  return (light + 0.05) / (dark + 0.05);
}

function luminance(colour: string): number {
  const [red, green, blue] = parsed(colour).map((value) => {
    const share = value / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  }) as Colour;
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** `part` is the share of `other`. */
function mixed(one: string, other: string, part: number): string {
  const to = parsed(other);
  const values = parsed(one).map((value, index) =>
    Math.round(value + ((to[index] as number) - value) * part),
  );
  return `#${values.map((value) => value.toString(16).padStart(2, '0')).join('')}`;
}

function parsed(colour: string): Colour {
  return [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16)) as Colour;
}

/** A page must load these rules after site.css. */
export function accentRules(colour: string): string {
  const { light, dark } = accentShades(colour);
  const tokens: Record<string, keyof Shades> = {
    accent: 'accent',
    'accent-soft': 'soft',
    'on-accent': 'on',
    deep: 'deep',
    'on-deep-soft': 'onDeepSoft',
    'on-deep-edge': 'deepEdge',
  };
  const rules = Object.entries(tokens).map(
    ([token, shade]) => `--${token}:light-dark(${light[shade]},${dark[shade]})`,
  );
  // This gives the drawing on the home page the hue of the head.
  return `:root{${rules.join(';')};--hero-blend:luminosity}\n`;
}
