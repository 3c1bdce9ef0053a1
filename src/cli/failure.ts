import { CommanderError } from 'commander';
import { ZodError } from 'zod';
import { ServiceError } from '../own-services/service-error.ts';
import { CodedError } from '../platform/app-error.ts';
import { InvalidDocumentError } from '../platform/document.ts';
import { ConfigError } from '../platform/environment.ts';
import { isUnknownResult } from '../platform/mongo.ts';
import { UnsealError } from '../platform/secrets.ts';
import { sentence } from './output-format.ts';

/** 1: the command was refused or failed. 2: invalid command line. */
type ExitCode = 1 | 2;

export class CommandError extends CodedError<string> {
  readonly exitCode: ExitCode;

  constructor(code: string, message: string, exitCode: ExitCode = 1) {
    super(code, message);
    this.exitCode = exitCode;
  }
}

export function wrongUse(message: string): CommandError {
  return new CommandError('wrong-use', message, 2);
}

/** A failed command: `message` has one line for each error. */
export type Failure = { code: string; message: string; exitCode: ExitCode };

export function failureOf(error: unknown): Failure {
  if (error instanceof CommandError)
    return { code: error.code, message: error.message, exitCode: error.exitCode };
  if (error instanceof CommanderError)
    return { code: 'wrong-use', message: commanderMessage(error), exitCode: 2 };
  return { ...failed(error), exitCode: 1 };
}

function failed(error: unknown): Omit<Failure, 'exitCode'> {
  if (error instanceof ConfigError) return { code: 'configuration', message: error.message };
  if (error instanceof ServiceError) return { code: 'services', message: error.message };
  if (error instanceof CodedError) return { code: error.code, message: sentence(error.message) };
  if (error instanceof UnsealError) return { code: 'secret-unreadable', message: sentence(error.message) };
  if (error instanceof InvalidDocumentError) return invalid(Object.values(error.errors));
  if (error instanceof ZodError) return invalid(error.issues.map((issue) => issue.message));
  if (error instanceof Error && error.name.startsWith('Mongo')) return databaseFailure(error);
  const reason = error instanceof Error ? error.message : String(error);
  return { code: 'fault', message: `Tallyport failed: ${reason}` };
}

function invalid(errors: string[]): Omit<Failure, 'exitCode'> {
  return { code: 'invalid-input', message: errors.map(sentence).join('\n') };
}

/** MongoDB's error codes Unauthorized and AuthenticationFailed. */
const SIGN_IN_REFUSED = new Set<unknown>([13, 18]);

function databaseFailure(error: Error): Omit<Failure, 'exitCode'> {
  if ('code' in error && SIGN_IN_REFUSED.has(error.code)) {
    return {
      code: 'database-refused',
      message: 'MongoDB refuses the user name or password in MONGODB_URI.',
    };
  }
  if (/^Mongo(Parse|API|InvalidArgument)/.test(error.name)) {
    return { code: 'configuration', message: sentence(`MONGODB_URI is not valid: ${error.message}`) };
  }
  if (isUnknownResult(error)) {
    return { code: 'database-away', message: sentence(`MongoDB does not answer: ${error.message}`) };
  }
  return { code: 'database-failed', message: sentence(`MongoDB failed: ${error.message}`) };
}

function commanderMessage(error: CommanderError): string {
  if (error.code === 'commander.help') return 'The command is incomplete. Add --help to see the commands.';
  const message = error.message.replace(/^error: /, '').replaceAll('\n', ' ');
  return `${sentence(message)} Add --help to see the usage.`;
}
