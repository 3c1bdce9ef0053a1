import { type Binary, seriesOf } from './binary.ts';
import { ServiceError } from './service-error.ts';

/** Data that a program wrote earlier. */
export type WrittenData = {
  dir: string;
  /** The program that wrote the data: `mongod 8.2`. */
  series: string;
};

/** A place where a program may be. */
export type ProgramSource = {
  /** The series of the program at this place (such as `mongod 8.2`), if it is known in advance. */
  series?: string;
  /**
   * Returns undefined when the program is not at this place. When it cannot be used or downloaded: throws an error with
   * a short message for users.
   */
  find(): Promise<Binary | undefined>;
};

type Search = {
  /** The name for users: `MongoDB`. */
  title: string;
  written: WrittenData | undefined;
  /** How to get the program; the end of a sentence for users. */
  remedy: string;
  /** What happens if the user moves the data away; the end of a sentence for users. */
  withoutData: string;
  /** In the order of preference. */
  sources: ProgramSource[];
};

/**
 * The first suitable program of the sources.
 *
 * @throws {ServiceError} when there is none: one sentence with the reason of each source and the remedy.
 */
export async function findFirst(search: Search): Promise<Binary> {
  const wanted = search.written?.series;
  const reasons: string[] = [];
  for (const source of search.sources) {
    if (wanted && source.series && source.series !== wanted) continue;
    try {
      const binary = await source.find();
      if (!binary) continue;
      if (!wanted || seriesOf(binary) === wanted) return binary;
      reasons.push(`${binary.path} is ${seriesOf(binary)}`);
    } catch (error) {
      if (error instanceof ServiceError) throw error;
      reasons.push(error instanceof Error ? error.message : String(error));
    }
  }
  throw new ServiceError(notFound(search, [...new Set(reasons)].join(', ')));
}

function notFound({ title, written, remedy, withoutData }: Search, reasons: string): string {
  if (!written) return `No ${title} was found: ${reasons}; ${remedy}.`;
  return `The data in ${written.dir} was written by ${written.series}, which alone can open it, but ${reasons}; put ${written.series} on PATH, or move that folder away: ${withoutData}.`;
}
