import { NAME_RULES, nameKindOf } from '../../games/player-names.ts';
import { defineMessage, type Text, t } from '../../language/t.ts';
import type { Config } from '../../platform/config.ts';
import type { Server } from '../../servers/server.ts';
import { type NamesOfServer, nameOptionsOf } from '../../votes/identity/player-name.ts';
import { offersSteam } from '../../votes/identity/steam-players.ts';
import type { SteamSignInError } from '../../votes/identity/steam-sign-in.ts';
import type { Typed } from '../shared/form.ts';
import { fieldsOf } from '../shared/form-fields.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { button } from '../shared/parts.ts';

type Voting = {
  server: Pick<Server, 'name'> & NamesOfServer;
  config: Pick<Config, 'STEAM_SIGN_IN'>;
  /** The SteamID that Steam confirmed for this browser. */
  provenId: string | null;
  typed: Typed;
  /** The player name of the user's last vote. The form contains it if no name was entered. */
  ownName?: string | undefined;
};

/** The field for the player's name. If Steam has confirmed a SteamID: a hidden field with the SteamID. */
export function identityField({ server, provenId, typed, ownName }: Omit<Voting, 'config'>): Html {
  if (provenId) return html`<input type="hidden" name="username" value="${provenId}" />`;
  const rule = NAME_RULES[nameKindOf(server.game)];
  return html`${fieldsOf(typed).text('username', {
    label: rule.label(),
    hint: rule.hint(nameOptionsOf(server)),
    value: ownName ?? '',
    // If the name has an error: the field gets the focus, so that screen readers read the error, which is above it.
    autofocus: Boolean(typed.errors.username),
    // `maxlength` counts UTF-16 code units, `longest` counts code points. A code point has at most two code units.
    maxlength: 2 * rule.longest,
    inputmode: rule.inputmode,
    required: true,
    autocomplete: 'username',
    // Without these attributes, the keyboard of a phone would change “steve” into “Steve ” or another word.
    autocapitalize: 'none',
    autocorrect: 'off',
    spellcheck: false,
  })}`;
}

/** The link to sign in through Steam, below a form for a name; only if the server's players have SteamIDs. */
export function steamAlternative(path: string, { server, config, provenId }: Voting): Content {
  return provenId || !offersSteam(config, server) ? '' : steamLink(path, false);
}

/** The link that begins a sign-in through Steam. `isNeeded`: the server takes votes only from players who signed in. */
export function steamLink(path: string, isNeeded: boolean): Html {
  const about = isNeeded
    ? t('This server takes votes only from players who signed in through Steam.')
    : t('Steam tells this listing your SteamID, and nothing else. You need no account here.');
  return html`<div class="actions">
      <a class="button ${isNeeded ? '' : 'quiet'}" href="${path}/steam" rel="nofollow">${t('Sign in through Steam')}</a>
    </div>
    <p class="small soft">${about}</p>`;
}

/** The confirmed SteamID, and a button to drop it. The form then has no field for the name. */
export function votingAs(path: string, provenId: string | null): Content {
  if (!provenId) return '';
  return html`<div class="actions">
    <p>${t('Voting as <strong>{id}</strong>, confirmed by Steam.', { id: provenId })}</p>
    ${button({ to: `${path}/steam/drop`, text: t('Not you?') })}
  </div>`;
}

/** The texts for a sign-in that was refused, by the code in the address of the vote form. */
const REFUSED: Record<SteamSignInError, Text> = {
  cancelled: defineMessage('You cancelled the sign-in through Steam.'),
  malformed: defineMessage('Steam’s answer cannot be used. Sign in through Steam again.'),
  forged: defineMessage('Steam did not confirm this answer. Sign in through Steam again.'),
  used: defineMessage('This sign-in was used before. Sign in through Steam again.'),
  expired: defineMessage('The sign-in through Steam took too long. Sign in again.'),
  unavailable: defineMessage(
    'Steam does not answer at the moment, so your SteamID could not be confirmed. Try again later.',
  ),
  'another-address': defineMessage('This answer of Steam is for another page. Sign in through Steam again.'),
  'another-server': defineMessage('This sign-in through Steam is for another server. Sign in here again.'),
  'another-browser': defineMessage(
    'This sign-in through Steam did not begin in this browser, or it took too long. Sign in again.',
  ),
};

/** The sentence for the code of a refused sign-in; undefined for any other text. */
export function steamRefusal(code: unknown): string | undefined {
  return typeof code === 'string' && Object.hasOwn(REFUSED, code)
    ? t(REFUSED[code as SteamSignInError])
    : undefined;
}
