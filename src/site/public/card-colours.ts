/** For images on other sites, where site.css is missing. `deep` is the background, as in a page's head. */
export const CARD_COLOURS = {
  deep: '#0c3b41',
  line: '#1d555b',
  text: '#f1f7f4',
  soft: '#a9cfcf',
  good: '#5fc1b4',
  bad: '#ffb0a1',
  medals: ['#f2c640', '#cfd9dd', '#d99e6b'],
  onMedal: '#10262a',
} as const;

/** The OKLCH hues of `.h0` to `.h11` of servers.css, in degrees. */
const DEGREES = [205, 245, 165, 25, 60, 130, 265, 5, 185, 85, 150, 225];

/** `hue` is an index of `DEGREES`. */
export function generatedColours(hue: number): Record<'ground' | 'pattern' | 'figure' | 'marks', string> {
  const degrees = DEGREES[hue] ?? 0;
  return {
    ground: oklch(0.37, 0.065, degrees),
    pattern: oklch(0.43, 0.075, degrees),
    figure: oklch(0.84, 0.09, degrees),
    marks: oklch(0.66, 0.11, degrees),
  };
}

/** CSS Color 4, "OKLCH to sRGB". The SVG renderer knows only sRGB. */
function oklch(lightness: number, chroma: number, degrees: number): string {
  const [a, b] = [Math.cos, Math.sin].map((of) => chroma * of((degrees * Math.PI) / 180)) as [number, number];
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const linear = [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ];
  return `#${linear.map(twoHexDigits).join('')}`;
}

function twoHexDigits(linear: number): string {
  const part = linear <= 0.0031308 ? 12.92 * linear : 1.055 * linear ** (1 / 2.4) - 0.055;
  return Math.round(255 * Math.min(Math.max(part, 0), 1))
    .toString(16)
    .padStart(2, '0');
}
