import { t } from '../../language/t.ts';
import type { TokenKind } from '../../servers/api-token.ts';
import type { IssuedToken } from '../../servers/api-tokens.ts';
import type { VrcFile } from '../../votes/claims/vrc-file.ts';
import { type Html, html } from '../shared/html.ts';
import { copyable } from '../shared/parts.ts';

/** The card with a new token, which is shown once, and what tokens of its kind may do. */
export function shownOnce({ token }: IssuedToken, kind: TokenKind, vrc: (key: string) => VrcFile): Html {
  if (kind === 'claim') return claimKeyShownOnce(token, vrc(token));
  if (kind === 'deliver') return deliveryTokenShownOnce(token);
  return html`<section class="card new-token">
    <h2>${t('Your new token')}</h2>
    <p>${t('Copy it now: it is shown only once. Anyone who has it can do for this server what you chose.')}</p>
    ${copyable(token, t('the token'))}
  </section>`;
}

function claimKeyShownOnce(key: string, file: VrcFile): Html {
  const once = t(
    'Copy it now: it is shown only once. It may only check and claim votes of this server, since plugins send it in addresses.',
  );
  const where = t(
    'Save it as a file that ends with <code>.vrc</code> in the folder <code>Lists</code> of VoteReward’s data folder.',
  );
  return html`<section class="card new-token">
    <h2>${t('Your new claim key')}</h2>
    <p>${once}</p>
    ${copyable(key, t('the claim key'))}
    <h3>${t('File for VoteReward (PocketMine)')}</h3>
    <p>${where}</p>
    ${copyable(JSON.stringify(file, null, 2), t('the file'))}
  </section>`;
}

function deliveryTokenShownOnce(token: string): Html {
  const once = t(
    'Copy it now: it is shown only once. It may only fetch votes of this server and report what became of them. The relay and the two lines for it are under “Connect”.',
  );
  return html`<section class="card new-token">
    <h2>${t('Your new delivery token')}</h2>
    <p>${once}</p>
    ${copyable(token, t('the delivery token'))}
  </section>`;
}
