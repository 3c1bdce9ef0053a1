import type { Command } from 'commander';
import { hasOperator, makeSetupLink } from '../accounts/setup.ts';
import type { AppDeps } from '../process/app-deps.ts';
import { type Answer, withDeps } from './answer.ts';
import { CommandError } from './failure.ts';
import { examples, invocation } from './invocation.ts';
import type { Session } from './session.ts';
import type { Terminal } from './terminal.ts';

export function addSetupLinkCommand(command: Command, terminal: Terminal): void {
  command.addHelpText('after', examples(terminal, 'setup-link')).action(withDeps(terminal, setupLink));
}

async function setupLink(session: Session): Promise<Answer> {
  if (await hasOperator(session)) throw alreadySetUp(session);
  const link = await makeSetupLink(session);
  return {
    json: { link },
    text: [
      'Open this link to make the first operator and set up the site. It works once, within an hour; links made before it no longer work:',
      `  ${link}`,
      `If no browser can open ${link.replace(/#.*/, '')}, the site needs another PUBLIC_URL.`,
    ].join('\n\n'),
  };
}

function alreadySetUp({ terminal: { env } }: Pick<Session, 'terminal'> & AppDeps): CommandError {
  const line = invocation('operator link --email ADDRESS', env);
  return new CommandError(
    'has-operator',
    `This site has an operator already, so there is no setup link. For a new password, run: ${line}`,
  );
}
