import { hasOperator } from '../accounts/setup.ts';
import type { AppDeps } from './app-deps.ts';

/** If the site has no operator: logs how to make the first one. Does not throw when MongoDB fails. */
export async function sayHowToBegin({ users, log }: AppDeps): Promise<void> {
  if (await hasOperator({ users }).catch(() => true)) return;
  log.info(
    { event: 'setup.no_operator' },
    'This site has no operator yet. To begin, run `tallyport setup-link` and open the link that it prints (with npm: npm run -s tallyport -- setup-link; in a container: node src/cli.ts setup-link)',
  );
}
