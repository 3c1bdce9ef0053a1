/** A file that follows from the code, whole or in part. `npm run generate` writes it, and a test compares it. */
export type Generated = {
  /** The path from the root of the repository. */
  file: string;
  /** Makes the file from what it has now. */
  make(now: string): string | Promise<string>;
};

/**
 * A part of a file between two lines with `generated: NAME` and `end of generated: NAME`, such as comments of Markdown.
 *
 * @throws {Error} if the file lacks one of the lines
 */
export function part(file: string, name: string, text: () => string): Generated {
  return {
    file,
    make(now) {
      const lines = now.split('\n');
      const from = lines.findIndex((line) => line.includes(`generated: ${name}`));
      const to = lines.findIndex((line) => line.includes(`end of generated: ${name}`));
      if (from < 0 || to <= from)
        throw new Error(`${file} has no part between “generated: ${name}” and its end`);
      // Prettier of editors and GitHub need an empty line between a comment and a table.
      const inner = file.endsWith('.md')
        ? ['', ...text().trim().split('\n'), '']
        : text().trimEnd().split('\n');
      return [...lines.slice(0, from + 1), ...inner, ...lines.slice(to)].join('\n');
    },
  };
}

/**
 * Words within a line of Markdown, between such comments.
 *
 * @throws {Error} if the file lacks one of the comments
 */
export function words(file: string, name: string, text: () => string): Generated {
  const begin = `<!-- generated: ${name} (npm run generate) -->`;
  const end = `<!-- end of generated: ${name} -->`;
  return {
    file,
    make(now) {
      const from = now.indexOf(begin) + begin.length;
      const to = now.indexOf(end, from);
      if (!now.includes(begin) || to < 0) throw new Error(`${file} has no words in “${begin}${end}”`);
      return now.slice(0, from) + text() + now.slice(to);
    },
  };
}

/** A table of Markdown. A cell is Markdown too; a `|` in it is escaped. */
export function table(head: string[], rows: string[][]): string {
  const line = (cells: string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n');
}

/** A name as code in Markdown. */
export const code = (name: string): string => `\`${name}\``;

/** A list in a sentence: `a, b and c`. */
export const listed = (names: Iterable<string>): string => new Intl.ListFormat('en-GB').format(names);
