import { type Content, type Html, html, raw } from './html.ts';

/**
 * The outcome of one vote, as a stroke: whole (arrived), hollow (sent, not confirmed), dotted (waiting), broken (failed),
 * short (not forwarded). Shape and colour say the same, and a word stands beside it.
 */
export type Stroke = 'arrived' | 'unconfirmed' | 'waiting' | 'failed' | 'none';

/** A vote of a tally: its stroke, and the text that names player, time and outcome. */
export type TallyVote = { stroke: Stroke; text: string };

/** A gate of five strokes: four upright, the fifth across. Units of the drawing. */
const GATE = 96;
const UPRIGHT = [14, 32, 50, 68];
const HEIGHT = 72;
/** So that few strokes are not larger than many. */
const LEAST_GATES = 4;

/** One small stroke before a word, for tables, logs and legends. */
export function strokeMark(stroke: Stroke): Html {
  const line = {
    arrived: 'M5 2V14',
    unconfirmed: 'M5 2V14',
    waiting: 'M5 3V14',
    failed: 'M5 2V5M5 11V14',
    none: 'M5 10V14',
  };
  return html`<svg class="stroke" viewBox="0 0 10 16" aria-hidden="true">${path(stroke, line[stroke])}</svg>`;
}

/** A word for the outcome of a vote, behind its stroke. */
export function strokeWord(stroke: Stroke, word: Content): Html {
  return html`<span class="said ${stroke}">${strokeMark(stroke)}${word}</span>`;
}

/** Votes as tally strokes, oldest first, in gates of five. `title` says the result in words. */
export function tally(title: string, votes: TallyVote[]): Html {
  const gates = Math.max(LEAST_GATES, Math.ceil(votes.length / 5));
  const width = String(gates * GATE - 14);
  return html`<svg class="tally" viewBox="0 0 ${width} ${String(HEIGHT)}" role="img" aria-label="${title}">${votes.map(
    ({ stroke, text }, index) => html`<g>${path(stroke, lineOf(index, stroke))}<title>${text}</title></g>`,
  )}</svg>`;
}

function lineOf(index: number, stroke: Stroke): string {
  const left = Math.floor(index / 5) * GATE;
  const upright = UPRIGHT[index % 5];
  if (upright === undefined) {
    const [from, to] = [`${left + 2} 56`, `${left + 80} 16`];
    return stroke === 'failed' ? `M${from}L${left + 28} 43M${left + 54} 29L${to}` : `M${from}L${to}`;
  }
  const x = left + upright;
  if (stroke === 'failed') return `M${x} 6V24M${x} 48V66`;
  return stroke === 'none' ? `M${x} 48V66` : `M${x} 6V66`;
}

/** A line, and for a hollow one a thinner line inside it in the colour of the card. */
function path(stroke: Stroke, line: string): Html {
  const inner = stroke === 'unconfirmed' ? raw(`<path class="inside" d="${line}"/>`) : '';
  return html`<path class="${stroke}" d="${line}"/>${inner}`;
}
