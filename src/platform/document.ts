import type { Collection as DriverCollection } from 'mongodb';
import mongoose, { type InferRawDocType } from 'mongoose';
import { AppError } from './app-error.ts';

/** The type of a nested definition: without the `_id` that mongoose infers, which Tallyport's nested schemas lack. */
export type Nested<D> = Omit<InferRawDocType<D>, '_id'>;

/** `errors` has one sentence for each wrong field. */
export class InvalidDocumentError extends AppError {
  readonly errors: Record<string, string>;

  constructor(errors: Record<string, string>) {
    super(Object.values(errors).join(' '));
    this.errors = errors;
  }
}

/**
 * Returns the document unchanged: mongoose's casts and defaults are not stored.
 *
 * @throws {InvalidDocumentError} naming each field that is missing or wrong
 */
export async function checked<T extends object>(collection: DriverCollection<T>, document: T): Promise<T> {
  const Model = modelOf(collection);
  try {
    await new Model(document).validate();
    return document;
  } catch (error) {
    if (!(error instanceof mongoose.Error.ValidationError)) throw error;
    throw new InvalidDocumentError(
      Object.fromEntries(Object.entries(error.errors).map(([path, error]) => [path, error.message])),
    );
  }
}

function modelOf(collection: object): mongoose.Model<object> {
  const models = collection instanceof mongoose.Collection ? Object.values(collection.conn.models) : [];
  const model = models.find((candidate) => candidate.collection === collection);
  if (!model) throw new TypeError('not the collection of a model');
  return model;
}
