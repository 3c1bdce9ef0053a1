/** A V8 profile: the nodes of a call tree, and the node of each sample. */
export type Profile = {
  nodes: { id: number; callFrame: { functionName: string; url: string }; children?: number[] }[];
  samples: number[];
  /** Microseconds: the end, and the time between samples. */
  endTime: number;
  startTime: number;
  timeDeltas: number[];
};

/** The last `seconds` of a profile, without the start of the process. */
export function lastSeconds(profile: Profile, seconds: number): Profile {
  const from = profile.endTime - seconds * 1e6;
  let at = profile.startTime;
  const samples = profile.samples.filter((_, i) => {
    at += profile.timeDeltas[i] ?? 0;
    return at >= from;
  });
  return { ...profile, samples };
}

type Frame = { name: string; url: string; own: number; all: number; children: Map<string, Frame> };

/** Frames that are not work of the process. */
const IDLE = new Set(['(idle)', '(program)']);

const WIDTH = 1_200;
const ROW = 16;
/** Narrower frames, in pixels, are not drawn: they are not readable and make the file large. */
const NARROWEST = 2;

function place({ functionName, url }: Profile['nodes'][number]['callFrame']): { name: string; url: string } {
  // Only the part of a path inside the repository or a package, without paths of the machine.
  const short = url.replace(/^file:\/\//, '').replace(/^.*\/(node_modules|src|workers|bench)\//, '$1/');
  return { name: functionName || '(anonymous)', url: short };
}

/** The call tree with each frame's samples; calls of a function from the same parent are one frame. */
function treeOf({ nodes, samples }: Profile): Frame {
  const hits = new Map<number, number>();
  for (const id of samples) hits.set(id, (hits.get(id) ?? 0) + 1);
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const root: Frame = { name: 'all', url: '', own: 0, all: 0, children: new Map() };
  const visit = (id: number, parent: Frame): number => {
    const node = byId.get(id);
    if (!node || IDLE.has(node.callFrame.functionName)) return 0;
    const { name, url } = place(node.callFrame);
    const key = `${name} ${url}`;
    const frame = parent.children.get(key) ?? { name, url, own: 0, all: 0, children: new Map() };
    parent.children.set(key, frame);
    const own = hits.get(id) ?? 0;
    let all = own;
    for (const child of node.children ?? []) all += visit(child, frame);
    frame.own += own;
    frame.all += all;
    return all;
  };
  for (const id of nodes[0]?.children ?? []) root.all += visit(id, root);
  return root;
}

/** Each function's own share of the busy time, largest first. */
export function ownTimes(profile: Profile): [place: string, share: number][] {
  const root = treeOf(profile);
  const own = new Map<string, number>();
  const visit = (frame: Frame) => {
    const key = `${frame.name}  ${frame.url}`;
    own.set(key, (own.get(key) ?? 0) + frame.own / root.all);
    for (const child of frame.children.values()) visit(child);
  };
  visit(root);
  return [...own].toSorted(([, a], [, b]) => b - a);
}

const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

/** The colours of our code, the driver, other packages and Node. */
function colour({ url }: Frame): string {
  if (url.startsWith('src/') || url.startsWith('bench/')) return '#f2a65a';
  if (/^node_modules\/(mongodb|bson)\//.test(url)) return '#8fb996';
  if (url.startsWith('node_modules/')) return '#9fb7d9';
  return '#d5d0c8';
}

/** An SVG of the profile, callers above callees; a frame's title contains its share. */
export function flameGraph(profile: Profile, title: string): string {
  const root = treeOf(profile);
  const parts: string[] = [];
  let deepest = 0;
  const draw = (frame: Frame, x: number, depth: number) => {
    const width = (WIDTH * frame.all) / root.all;
    if (width < NARROWEST) return;
    deepest = Math.max(deepest, depth);
    const y = 24 + depth * ROW;
    const share = ((100 * frame.all) / root.all).toFixed(1);
    const label = width > 40 ? frame.name.slice(0, Math.floor(width / 6.5)) : '';
    const text = label ? `<text x="${(x + 2).toFixed(0)}" y="${y + 11}">${escaped(label)}</text>` : '';
    parts.push(
      `<g><title>${escaped(`${frame.name} ${frame.url}`)}: ${share} %</title><rect x="${x.toFixed(1)}" y="${y}" width="${width.toFixed(1)}" height="${ROW - 1}" fill="${colour(frame)}"/>${text}</g>`,
    );
    let at = x;
    for (const child of [...frame.children.values()].toSorted((a, b) => b.all - a.all)) {
      draw(child, at, depth + 1);
      at += (WIDTH * child.all) / root.all;
    }
  };
  draw(root, 0, 0);
  const height = 24 + (deepest + 1) * ROW;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="monospace" font-size="10"><title>${escaped(title)}</title><rect width="${WIDTH}" height="${height}" fill="#fff"/><text x="4" y="15" font-size="12">${escaped(title)}</text>${parts.join('')}</svg>`;
}
