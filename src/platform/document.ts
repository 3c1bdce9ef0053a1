import mongoose, { type InferRawDocType, type Schema } from 'mongoose';

/** The type of a nested definition; mongoose's inference gives it an `_id`, which ours switch off. */
export type Nested<D> = Omit<InferRawDocType<D>, '_id'>;

/** A document that its schema refuses: one sentence for each field. */
export class InvalidDocumentError extends Error {
  readonly errors: Record<string, string>;

  constructor(errors: Record<string, string>) {
    super(Object.values(errors).join(' '));
    this.name = 'InvalidDocumentError';
    this.errors = errors;
  }
}

/**
 * Checks `document` against its mongoose schema and returns it as it is.
 *
 * @throws {InvalidDocumentError} naming each field that is missing or wrong.
 */
export async function checked<T>(schema: Schema, document: T): Promise<T> {
  // A document outside any connection: mongoose's schema is our schema language, the driver does the writing.
  const Detached = mongoose.Document as unknown as new (fields: T, schema: Schema) => mongoose.Document;
  try {
    await new Detached(document, schema).validate();
    return document;
  } catch (error) {
    if (!(error instanceof mongoose.Error.ValidationError)) throw error;
    throw new InvalidDocumentError(
      Object.fromEntries(Object.entries(error.errors).map(([path, error]) => [path, error.message])),
    );
  }
}
