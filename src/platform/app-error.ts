/** The base of Tallyport's error classes. The `name` of an error is the name of its class. */
export class AppError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** An error with a stable code, by which callers and readers of `--json` output distinguish errors. */
export class CodedError<Code extends string> extends AppError {
  readonly code: Code;

  constructor(code: Code, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
