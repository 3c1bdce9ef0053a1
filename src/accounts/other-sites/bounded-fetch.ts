import { AppError } from '../../platform/app-error.ts';

/** The largest answer that is read, in bytes. Real answers have some kilobytes. */
const MAX_BYTES = 256 * 1_024;

/** The answer of a remote peer is larger than 256 KB. */
export class AnswerTooLargeError extends AppError {}

export type Bounded = Omit<RequestInit, 'body'> & { body?: RequestInit['body'] | undefined };

/**
 * `fetch` that reads the whole body before it returns, so that the caller's signal covers the body too.
 *
 * @throws {AnswerTooLargeError} when the body is larger than 256 KB; what `fetch` throws
 */
export async function boundedFetch(url: string, { body, ...init }: Bounded): Promise<Response> {
  return readBounded(await fetch(url, { ...init, body: body ?? null }));
}

/** An answer whose body is not read yet. */
type Begun = { status: number; headers: Headers; body: AsyncIterable<Uint8Array> | null };

/** @throws {AnswerTooLargeError} when the body is larger than 256 KB */
export async function readBounded({ status, headers, body }: Begun): Promise<Response> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body ?? []) {
    length += chunk.length;
    // The exception ends the loop, and the end of the loop cancels the rest of the body.
    if (length > MAX_BYTES) throw new AnswerTooLargeError(`the answer has more than ${MAX_BYTES / 1_024} KB`);
    chunks.push(chunk);
  }
  return new Response(length === 0 ? null : new Blob([Buffer.concat(chunks)]), { status, headers });
}
