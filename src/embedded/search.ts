import { type Binary, seriesOf } from './binary.ts';
import { ServiceError } from './service-error.ts';

/** Data that a program wrote earlier. */
export type WrittenData = {
  dir: string;
  /** What wrote it: `mongod 8.2`. */
  series: string;
};

/** One place where a program may be found. */
export type Source = {
  /** What this source has, where that is known before it is asked. */
  series?: string;
  /** Gives undefined when it is simply not there; throws an error of a few words for users otherwise. */
  find(): Promise<Binary | undefined>;
};

/** What is looked for and where. */
type Search = {
  /** As users know it: `MongoDB`. */
  title: string;
  /** The data that is to be opened, if there is any. */
  written: WrittenData | undefined;
  /** How to get it, as the end of a sentence. */
  remedy: string;
  /** What moving the data away means, as the end of a sentence. */
  withoutData: string;
  /** In the order of preference. */
  sources: Source[];
};

/**
 * The program of the first source that has one which will do.
 *
 * @throws {ServiceError} when none has: one sentence with the reason of each and the remedy.
 */
export async function takeFirst(search: Search): Promise<Binary> {
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
  return `The data in ${written.dir} was written by ${written.series} and opens with no other, but ${reasons}; put ${written.series} on PATH, or move that folder away: ${withoutData}.`;
}
