import { AppError } from '../platform/app-error.ts';
/** A service cannot be found, started or used. The message is one sentence for the user at the terminal. */
export class ServiceError extends AppError {}

export type Say = (line: string) => void;
