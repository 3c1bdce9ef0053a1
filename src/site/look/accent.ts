/** A colour as red, green and blue, 0 to 255. */
type Colour = [number, number, number];

/**
 * The accent colours for the light or the dark scheme: `accent` for links and buttons, `soft` as the background of
 * marked parts, `on` for the text on a button.
 */
type Shades = { accent: string; soft: string; on: string };

/**
 * For each scheme: the backgrounds of pages and cards in site.css, and the colour towards which an accent with too
 * little contrast is mixed.
 */
const SCHEMES = {
  light: { grounds: ['#eaf0ef', '#ffffff'], card: '#ffffff', towards: '#000000', on: '#ffffff', tint: 0.1 },
  dark: { grounds: ['#0b1416', '#132023'], card: '#132023', towards: '#ffffff', on: '#08201f', tint: 0.2 },
} as const;

/** The minimum contrast for text in WCAG 2.2, level AA. */
const LEAST_CONTRAST = 4.5;
const STEP = 0.02;

/**
 * The shades of an operator's colour for light and dark pages. If a shade has too little contrast as text, it is made
 * darker or lighter until it has 4.5 : 1 on every background.
 *
 * @param colour - `#0f6168`
 */
export function accentShades(colour: string): { light: Shades; dark: Shades } {
  return { light: shadesOf(colour, 'light'), dark: shadesOf(colour, 'dark') };
}

function shadesOf(colour: string, scheme: keyof typeof SCHEMES): Shades {
  const { grounds, card, towards, on, tint } = SCHEMES[scheme];
  for (let part = 0; ; part += STEP) {
    const accent = mixed(colour, towards, Math.min(part, 1));
    const soft = mixed(card, accent, tint);
    const isReadable = [...grounds, soft].every((ground) => contrast(accent, ground) >= LEAST_CONTRAST);
    if ((isReadable && contrast(accent, on) >= LEAST_CONTRAST) || part >= 1) return { accent, soft, on };
  }
}

/** The contrast ratio of two colours by WCAG: 1 to 21. */
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

/** Mixes two colours: `part` is the share of `other`. */
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

/** CSS rules that replace our accent colour by the operator's. They must follow the stylesheet. */
export function accentRules(colour: string): string {
  const { light, dark } = accentShades(colour);
  return `:root{--accent:light-dark(${light.accent},${dark.accent});--accent-soft:light-dark(${light.soft},${dark.soft});--on-accent:light-dark(${light.on},${dark.on})}\n`;
}
