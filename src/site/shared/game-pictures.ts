import { GAME_PICTURES } from '../look/games/list.ts';
import type { Site } from './decorate-site.ts';
import { pixelPicture } from './generated-pictures.ts';
import { type Html, html } from './html.ts';

/** Screen readers skip it: the game's name is beside it. */
export function gamePicture({ asset }: Pick<Site, 'asset'>, game: string, pixels: number): Html {
  const drawn = GAME_PICTURES.find((one) => one === game);
  if (!drawn) return pixelPicture(game, pixels);
  const size = html`width="${String(pixels)}" height="${String(pixels)}"`;
  return html`<img src="${asset(`game-${drawn}.svg`)}" ${size} alt="" />`;
}
