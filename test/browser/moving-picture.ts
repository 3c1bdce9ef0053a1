import type { Page } from 'playwright-core';
import sharp from 'sharp';
import { SECOND } from '../../src/platform/clock.ts';
import { type PictureData, sendVotes } from './picture-data.ts';
import type { StillSite } from './still-site.ts';
import { lookOf, untilDrawn } from './take-picture.ts';

/** The size of the page; the picture has as many pixels. */
const SIZE = { width: 800, height: 600 };

const PLAYER = 'Steve';

/** A frame as PNG, and for how long it is shown, in milliseconds. */
type Frame = { png: Buffer; ms: number };

/**
 * Votes in one tab and shows the owner's timeline in the other. Returns the frames, and what decides how they look as
 * text (`lookOf`).
 */
export async function film(
  { deps, clock }: StillSite,
  { harbour }: PictureData,
  { player, owner }: { player: Page; owner: Page },
): Promise<{ frames: Frame[]; look: string }> {
  const frames: Frame[] = [];
  const looks: string[] = [];
  const shoot = async (page: Page, ms: number) => {
    frames.push({ png: await page.screenshot({ animations: 'disabled', scale: 'css' }), ms });
  };
  for (const page of [player, owner]) await page.setViewportSize(SIZE);
  /** Writes a sentence over the foot of a new page. */
  const say = async (page: Page, sentence: string) => {
    await untilDrawn(page);
    await addCaption(page, sentence);
    looks.push(await lookOf(page));
  };
  await player.goto('/servers/harbour-lights/vote');
  await say(player, 'A player votes.');
  const name = player.getByLabel('Your player name');
  const button = player.getByRole('button', { name: 'Vote', exact: true });
  await player.evaluate('scrollTo(0, 140)');
  await addPointer(player);
  const [from, to] = [await middleOf(name), await middleOf(button)];
  await movePointer(player, from);
  await shoot(player, 900);
  await name.focus();
  for (let length = 1; length <= PLAYER.length; length++) {
    await name.fill(PLAYER.slice(0, length));
    await shoot(player, length === PLAYER.length ? 500 : 120);
  }
  for (let step = 1; step <= 8; step++) {
    const share = (1 - Math.cos((Math.PI * step) / 8)) / 2;
    await movePointer(player, { x: from.x + share * (to.x - from.x), y: from.y + share * (to.y - from.y) });
    await shoot(player, step === 8 ? 350 : 40);
  }
  await player.mouse.down();
  await shoot(player, 250);
  await player.mouse.up();
  await player.getByRole('heading', { name: `Your vote counts, ${PLAYER}.` }).waitFor();
  await say(player, 'The vote is stored.');
  await shoot(player, 1_800);
  clock.move(SECOND);
  await sendVotes(deps, harbour);
  await player
    .getByText(/Arrived in/)
    .filter({ visible: true })
    .first()
    .waitFor();
  await say(player, 'The game server has it.');
  await shoot(player, 2_200);
  const vote = await deps.votes.findOne({ serverId: harbour, username: PLAYER }, { sort: { votedAt: -1 } });
  await owner.goto(`/dashboard/servers/${harbour.toHexString()}/votes/${vote?._id}`);
  await say(owner, 'The owner of the server sees each step.');
  await owner.evaluate(`document.querySelector('#vote').scrollIntoView()`);
  await shoot(owner, 3_000);
  return { frames, look: [...looks, ...frames.map(({ ms }) => ms)].join('\n') };
}

type Point = { x: number; y: number };

async function middleOf(element: ReturnType<Page['locator']>): Promise<Point> {
  const box = await element.boundingBox();
  if (!box) throw new Error('the element is not shown');
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
}

/** Draws a pointer, because pictures of a browser have none. */
async function addPointer(page: Page): Promise<void> {
  await page.evaluate(`document.body.insertAdjacentHTML('beforeend', '<svg id="pointer" viewBox="0 0 24 24"><path \
d="M5 2v17l4.5-4 3 7 3-1.4-3-6.6H19z" fill="#fff" stroke="#000" stroke-width="1.4" stroke-linejoin="round"/></svg>');
    Object.assign(document.querySelector('#pointer').style, { position: 'fixed', width: '26px', height: '26px',
      zIndex: 9, pointerEvents: 'none', display: 'none' });`);
}

async function addCaption(page: Page, sentence: string): Promise<void> {
  await page.evaluate(`document.querySelector('#caption')?.remove();
    document.body.insertAdjacentHTML('beforeend', '<p id="caption">${sentence}</p>');
    Object.assign(document.querySelector('#caption').style, { position: 'fixed', inset: 'auto 0 0', zIndex: 8,
      padding: '12px 24px', background: '#08201f', color: '#fff', font: '700 20px/1.4 var(--display)' });`);
}

async function movePointer(page: Page, { x, y }: Point): Promise<void> {
  await page.mouse.move(x, y);
  await page.evaluate(`Object.assign(document.querySelector('#pointer').style,
    { display: 'block', left: '${x - 5}px', top: '${y - 2}px' })`);
}

/** Joins frames into an animated WebP, which begins again after its end. */
export async function joinFrames(frames: Frame[]): Promise<Buffer> {
  return sharp(
    frames.map(({ png }) => png),
    { join: { animated: true } },
  )
    .webp({ quality: 80, effort: 6, minSize: true, delay: frames.map(({ ms }) => ms), loop: 0 })
    .toBuffer();
}
