import type { Command } from 'commander';
import { makePasswordLink } from '../accounts/make-link.ts';
import { lacksSecondFactor } from '../accounts/sessions.ts';
import type { User } from '../accounts/user.ts';
import { createOperator, type Decider, listOperators, notePasswordLink } from '../accounts/users.ts';
import { storedEmail } from '../platform/email-address.ts';
import type { AppDeps } from '../process/app-deps.ts';
import { type Answer, withDeps } from './answer.ts';
import { CommandError } from './failure.ts';
import { BY } from './find.ts';
import { examples, invocation } from './invocation.ts';
import { iso, when } from './output-format.ts';
import type { Session } from './session.ts';
import { table } from './table.ts';
import type { Terminal } from './terminal.ts';

const DECIDER: Decider = { userId: null, by: BY };

export function addOperatorCommands(operator: Command, terminal: Terminal): void {
  operator
    .command('create')
    .description('create an operator, or make a user an operator, and print a link to set a password')
    .requiredOption('--email <address>', 'the address to sign in with')
    .option('--name <name>', 'the displayed name; by default the part before the @')
    .addHelpText('after', examples(terminal, 'operator create --email ada@example.org --name "Ada"'))
    .action(withDeps(terminal, create));

  operator
    .command('link')
    .description('print a one-time link that lets any user set a new password')
    .requiredOption('--email <address>', 'the user’s address')
    .addHelpText('after', examples(terminal, 'operator link --email ada@example.org'))
    .action(withDeps(terminal, link));

  operator
    .command('list')
    .description('show the operators')
    .addHelpText('after', examples(terminal, 'operator list'))
    .action(withDeps(terminal, list));
}

async function create(deps: AppDeps, options: { email: string; name?: string }): Promise<Answer> {
  const { user, isNew } = await createOperator(deps, options, DECIDER);
  const address = await linkFor(deps, user);
  const needsFactor = lacksSecondFactor(deps, user);
  return {
    json: { user_id: user._id.toHexString(), email: user.email, is_new: isNew, link: address },
    text: [
      `${user.email} ${isNew ? 'is an operator now' : 'had an account already and is an operator now'}. Open this link to set the password; it works once, within an hour:`,
      `  ${address}`,
      ...(needsFactor ? ['The admin area needs a second factor. Set it up after you sign in.'] : []),
    ].join('\n\n'),
  };
}

async function link(deps: AppDeps, { email }: { email: string }): Promise<Answer> {
  const user = await deps.users.findOne({ email: storedEmail(email) });
  if (!user) throw new CommandError('user-not-found', `No user has the address “${email}”.`);
  const address = await linkFor(deps, user);
  return {
    json: { user_id: user._id.toHexString(), email: user.email, link: address },
    text: `With this link ${user.email} sets a new password; it works once, within an hour:\n\n  ${address}`,
  };
}

/** The audit log entry is written before the link is created, so that no link exists without an entry. */
async function linkFor(deps: AppDeps, user: User): Promise<string> {
  await notePasswordLink(deps, user, DECIDER);
  return makePasswordLink(deps, user);
}

async function list(deps: Session): Promise<Answer> {
  const operators = await listOperators(deps);
  const now = deps.clock.now();
  const rows = operators.map((user) => [
    user.email,
    user.name,
    user.twoFactorEnabled ? 'on' : 'off',
    user.suspendedAt ? 'suspended' : '',
    when(user.createdAt, now),
  ]);
  return {
    json: {
      operators: operators.map((user) => ({
        user_id: user._id.toHexString(),
        email: user.email,
        name: user.name,
        two_factor: user.twoFactorEnabled ?? false,
        suspended_at: iso(user.suspendedAt),
        created_at: iso(user.createdAt),
      })),
    },
    text: table(
      ['E-MAIL', 'NAME', 'SECOND FACTOR', '', 'SINCE'],
      rows,
      `There is no operator. A link that makes one: ${invocation('setup-link', deps.terminal.env)}`,
    ),
  };
}
