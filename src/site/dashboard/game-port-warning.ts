import { GAME_PORT, type GameAddress, isGamePort } from '../../delivery/diagnosis/explain.ts';
import { t } from '../../language/t.ts';
import type { Listener } from '../../listeners/listener.ts';
import { settingsProof } from '../../listeners/listener-state.ts';
import { type Content, html } from '../shared/html.ts';
import { notice } from '../shared/parts.ts';

/** A warning if the listener's port is the port of the game, and no vote or test vote shows that the settings work. */
export function gamePortWarning(
  listener: Pick<
    Listener,
    'protocol' | 'host' | 'port' | 'acknowledgedAt' | 'lastDeliveredAt' | 'updatedAt' | 'tested'
  >,
  game: GameAddress,
): Content {
  if (!isGamePort(listener, game) || settingsProof(listener) === 'works') return '';
  return notice('attention', html`<p>${t(GAME_PORT.cause)}</p><p>${t(GAME_PORT.advice)}</p>`);
}
