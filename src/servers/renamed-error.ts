import { AppError } from '../platform/app-error.ts';

/** Of a redirect to the present slug, in seconds. Short, because a renamed server may get its old slug again. */
export const RENAMED_SECONDS = 60;

/** The path has an earlier slug, or capital letters. Pages have it also for an id. */
export class RenamedError extends AppError {
  readonly slug: string;

  constructor(slug: string) {
    super(`the server's slug is ${slug}`);
    this.slug = slug;
  }
}
