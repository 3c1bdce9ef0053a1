import { CredentialError } from '../../delivery/credentials.ts';
import { defineMessage, t } from '../../language/t.ts';
import { EarlierProcessesError } from '../../platform/earlier-processes.ts';
import { UnsealError } from '../../platform/secrets.ts';
import { type RefusedForm, refused } from '../shared/form-route.ts';

/** The refusal if the secret is wrong or unreadable, or if processes of an earlier version run; otherwise undefined. */
export function settingsRefusal(error: unknown, values: Record<string, string>): RefusedForm | undefined {
  if (!(error instanceof EarlierProcessesError)) return secretRefusal(error, values);
  return refused(409, t(EARLIER_PROCESSES[error.code]));
}

/** The sentences for owners. Unlike the error's message, they do not name the machines on which the processes run. */
const EARLIER_PROCESSES = {
  'earlier-processes': defineMessage(
    'Nothing was saved: a part of this listing still runs an earlier version, which does not know servers that fetch their votes. Try again when its operator has finished the upgrade.',
  ),
  'processes-unknown': defineMessage(
    'Nothing was saved: this listing cannot tell whether a part of it still runs an earlier version, which does not know servers that fetch their votes. Ask its operator: their log and “tallyport listener set” name what is missing.',
  ),
};

/** The refusal if the entered secret is invalid or the stored one cannot be read; undefined for any other error. */
function secretRefusal(error: unknown, values: Record<string, string>): RefusedForm | undefined {
  if (error instanceof CredentialError) return { errors: { secret: error.message } };
  if (!(error instanceof UnsealError)) return undefined;
  return 'secret' in values
    ? { errors: { secret: t('The stored value cannot be read. Enter it again.') } }
    : refused(400, t('The stored secret cannot be read. Remove the listener and set it up again.'));
}

/** The refusal if the server has no listener, for example because it was removed while the page was open. */
export function noListenerRefusal(): RefusedForm {
  return refused(404, t('This server has no vote listener.'));
}
