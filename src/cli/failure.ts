import { CommanderError } from 'commander';
import { ZodError } from 'zod';
import { UserError } from '../accounts/users.ts';
import { CredentialError } from '../delivery/credentials.ts';
import { ServiceError } from '../embedded/service-error.ts';
import { DayNotOverError, DayTooOldError } from '../history/aggregate-day.ts';
import { TransferError } from '../listing/transfer-server.ts';
import { ConfigError } from '../platform/config.ts';
import { InvalidDocumentError } from '../platform/document.ts';
import { isUnknownResult } from '../platform/mongo.ts';
import { LeaseLostError } from '../platform/periods/work-lease.ts';
import { UnsealError } from '../platform/secrets.ts';
import { MigrationError } from '../process/migrations.ts';
import { ExclusionError } from '../votes/exclude-votes.ts';
import { sentence } from './words.ts';

/** 1: refused or failed. 2: wrong use. */
type ExitCode = 1 | 2;

/** A command that cannot be done; the message is a sentence for the user at the terminal. */
export class CommandError extends Error {
  readonly code: string;
  readonly exitCode: ExitCode;

  constructor(code: string, message: string, exitCode: ExitCode = 1) {
    super(message);
    this.name = 'CommandError';
    this.code = code;
    this.exitCode = exitCode;
  }
}

/** What was typed is not a command that we know. */
export function wrongUse(message: string): CommandError {
  return new CommandError('wrong-use', message, 2);
}

/** Why a command failed, as it is told: `message` has one line for each fault. */
export type Failure = { code: string; message: string; exitCode: ExitCode };

/** Turns whatever a command threw into words and a stable code. */
export function failureOf(error: unknown): Failure {
  if (error instanceof CommandError)
    return { code: error.code, message: error.message, exitCode: error.exitCode };
  if (error instanceof CommanderError)
    return { code: 'wrong-use', message: commanderWords(error), exitCode: 2 };
  return { ...failed(error), exitCode: 1 };
}

function failed(error: unknown): Omit<Failure, 'exitCode'> {
  if (error instanceof ConfigError) return { code: 'configuration', message: error.message };
  if (error instanceof ServiceError) return { code: 'services', message: error.message };
  if (error instanceof CredentialError) return { code: error.code, message: error.message };
  if (
    error instanceof DayTooOldError ||
    error instanceof DayNotOverError ||
    error instanceof ExclusionError ||
    error instanceof LeaseLostError ||
    error instanceof MigrationError ||
    error instanceof TransferError ||
    error instanceof UserError
  )
    return { code: error.code, message: error.message };
  if (error instanceof UnsealError) return { code: 'secret-unreadable', message: sentence(error.message) };
  if (error instanceof InvalidDocumentError) return invalid(Object.values(error.errors));
  if (error instanceof ZodError) return invalid(error.issues.map((issue) => issue.message));
  if (error instanceof Error && error.name.startsWith('Mongo')) return databaseFailure(error);
  const reason = error instanceof Error ? error.message : String(error);
  return { code: 'fault', message: `Tallyport failed: ${reason}` };
}

function invalid(faults: string[]): Omit<Failure, 'exitCode'> {
  return { code: 'invalid-input', message: faults.map(sentence).join('\n') };
}

/** Server codes of a refused sign-in: unauthorized and authentication failed. */
const REFUSED = new Set<unknown>([13, 18]);

function databaseFailure(error: Error): Omit<Failure, 'exitCode'> {
  if ('code' in error && REFUSED.has(error.code)) {
    return {
      code: 'database-refused',
      message: 'MongoDB refuses the user name or the password of MONGODB_URI.',
    };
  }
  if (/^Mongo(Parse|API|InvalidArgument)/.test(error.name)) {
    return { code: 'configuration', message: sentence(`MONGODB_URI cannot be used: ${error.message}`) };
  }
  if (isUnknownResult(error)) {
    return { code: 'database-away', message: sentence(`MongoDB does not answer: ${error.message}`) };
  }
  return { code: 'database-failed', message: sentence(`MongoDB failed: ${error.message}`) };
}

function commanderWords(error: CommanderError): string {
  if (error.code === 'commander.help') return 'The command is not complete. Add --help to see what there is.';
  const words = error.message.replace(/^error: /, '').replaceAll('\n', ' ');
  return `${sentence(words)} Add --help to see how it is used.`;
}
