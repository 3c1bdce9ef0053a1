import type { Command } from 'commander';
import { hashPassword } from '../accounts/password.ts';
import { examples, give } from './answer.ts';
import { CommandError } from './failure.ts';
import { readSecret } from './prompt.ts';

/** OWASP's authentication advice for passwords that no second factor backs up is 15; NIST's least is 8. */
const SHORTEST_PASSWORD = 8;

export function addOperatorCommands(program: Command): void {
  const operator = program.command('operator').description('prepare the operator’s sign-in');

  operator
    .command('hash-password')
    .description(
      'make OPERATOR_PASSWORD_HASH from a password: typed twice, or the first line of standard input',
    )
    .addHelpText('after', examples('operator hash-password', 'operator hash-password < password.txt'))
    .action(async (_options: object, command: Command) => {
      const password = await readSecret('Password');
      if ([...password].length < SHORTEST_PASSWORD) {
        throw new CommandError(
          'password-too-short',
          `The password must have at least ${SHORTEST_PASSWORD} characters.`,
        );
      }
      const hash = await hashPassword(password);
      give({ json: { hash }, text: hash }, command);
      process.stderr.write('Set it as OPERATOR_PASSWORD_HASH, in single quotes: it has dollar signs.\n');
    });
}
