import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

/** The documents that readers of the repository meet: path and text. */
export const DOCUMENTS = [
  '*.md',
  'docs/**/*.md',
  'bench/**/*.md',
  'test/**/*.md',
  'clients/typescript/*.md',
  'ops/**/*.md',
]
  .flatMap((pattern) => globSync(pattern))
  .map((path) => ({ path, text: readFileSync(path, 'utf8') }));

export type Link = { from: string; to: string; anchor: string };

/** Paths with a placeholder (`src/api/v1/<name>.ts`, `NNNN-title.md`) or a pattern name no file. */
const PLACEHOLDER = /[<>*{}…]|NNNN|VERSION/;

const NAMED_PATH = /(?<![\w/.-])(?:src|workers|test|bench|docs|ops|clients)\/[^\s`'"()[\]|,;:#]*/g;
const NAMED_FILE = /`((?:[\w-]+\/)*[\w.-]+\.tsx?)`/g;
const COMMENTED_FILE = /(?<![\w/.'-])((?:[\w-]+\/)*[\w-]+(?:\.[\w-]+)*\.ts)\b/g;
const LINK = /\]\(([^)\s]+)\)|\s(?:href|src|srcset)="([^"\s]+)"/g;

/** The paths from the repository's root that a text names, without a line's closing punctuation. */
export function namedPaths(text: string): string[] {
  return [...text.matchAll(NAMED_PATH)]
    .filter(([path]) => !PLACEHOLDER.test(path))
    .map(([path]) => path.replace(/[.!?]+$/, ''));
}

/** The TypeScript files that a text names, often without their folder: `votifier/votifier-reply.ts`. */
export function namedFiles(text: string): string[] {
  return [...text.matchAll(NAMED_FILE)]
    .map(([, path = '']) => path)
    .filter((path) => !PLACEHOLDER.test(path));
}

/** The TypeScript files that the comments of a file name, often without their folder. */
export function filesInComments(code: string): string[] {
  const comments = code.split('\n').filter((line) => /^\s*(\/\/|\/?\*)/.test(line));
  return comments.flatMap((line) => [...line.matchAll(COMMENTED_FILE)].map(([, path = '']) => path));
}

/** The links of a document to files of the repository, and its pictures; `to` is a path from its root. */
export function relativeLinks({ path, text }: { path: string; text: string }): Link[] {
  return [...withoutCode(text).matchAll(LINK)]
    .map(([, target = '', attribute = target]) => attribute)
    .filter((target) => !/^[a-z]+:|^\//.test(target))
    .map((target) => {
      const [file = '', anchor = ''] = target.split('#');
      return { from: path, to: file ? normalize(join(dirname(path), file)) : path, anchor };
    });
}

/** The anchors that GitHub gives the headings of a document; a repeated heading gets `-1`, `-2`, …. */
export function anchorsOf(text: string): string[] {
  const seen = new Map<string, number>();
  return [...withoutCode(text).matchAll(/^#{1,6} (.*)$/gm)].map(([, heading = '']) => {
    const anchor = heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-');
    const repeated = seen.get(anchor) ?? 0;
    seen.set(anchor, repeated + 1);
    return repeated ? `${anchor}-${repeated}` : anchor;
  });
}

/** Examples in fences have neither links nor headings. */
function withoutCode(text: string): string {
  return text.replace(/^```[\s\S]*?^```/gm, '');
}
