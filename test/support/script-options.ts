import { Command, InvalidArgumentError } from 'commander';

/**
 * A command for `npm run` that maintainers use. For wrong options, the exit code is 2, as for the product's command
 * line.
 */
export function script(usage: string, about: string): Command {
  return new Command()
    .name(usage)
    .usage('[options]')
    .description(about)
    .allowExcessArguments(false)
    .showHelpAfterError('Add --help to see the options.')
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2));
}

/** Parses the value of an option: a number above 0. */
export function positive(text: string): number {
  const value = Number(text);
  if (!(Number.isFinite(value) && value > 0)) throw new InvalidArgumentError('It must be a number above 0.');
  return value;
}

/** Parses the value of an option: a number from 0 on. */
export function notNegative(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !(Number.isFinite(value) && value >= 0))
    throw new InvalidArgumentError('It must be a number from 0 on.');
  return value;
}
