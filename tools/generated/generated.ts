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

/** A table of Markdown. A cell is Markdown too; a `|` in it is escaped. */
export function table(head: string[], rows: string[][]): string {
  const line = (cells: string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n');
}
