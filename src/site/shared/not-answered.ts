import { t } from '../../language/t.ts';
import type { NotAnswered } from '../../platform/worker-answers.ts';

export function notAnsweredText({ kind }: NotAnswered): string {
  switch (kind) {
    case 'no-worker':
      return t(
        'No worker is running, so nothing was checked or sent. Try again later, or ask the operator of this listing.',
      );
    case 'too-late':
      return t('All workers are busy, so nothing was checked or sent. Try again in a minute.');
    case 'redis-away':
      return t('The queue of this listing does not answer, so there is no result. Try again in a minute.');
    case 'interrupted':
      return t('The worker stopped before there was a result. Try again in a minute.');
    case 'stopped':
      return t('This listing is restarting. Try again in a minute.');
    case 'failed':
      return t('Something went wrong on our side. We have logged the error. Try again in a minute.');
  }
}

export function notAnsweredStatus({ kind }: NotAnswered): number {
  return kind === 'failed' ? 500 : 503;
}
