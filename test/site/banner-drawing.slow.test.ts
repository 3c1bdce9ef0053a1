import { expect, it } from 'vitest';
import type { GoalProgress } from '../../src/goals/goal-progress.ts';
import { drawSvg } from '../../src/platform/pictures/draw-svg.ts';
import { bannerDrawing, drawBanner } from '../../src/site/public/banner-drawing.ts';
import { anyInfo } from '../support/server-info.ts';

const text = (image: unknown) =>
  [...String(image).matchAll(/<text[^>]*>([^<]*)<\/text>/g)].map(([, shown]) => shown);

const GOAL: GoalProgress = {
  target: 100,
  votes: 88,
  period: 'week',
  percentage: 88,
  text: null,
  since: new Date(0),
  from: new Date(0),
  end: null,
  reachedAt: null,
  timesReached: 0,
};

it.each(['468x60', '728x90'] as const)('a banner of %s shows what the SVG shows', (size) => {
  const info = anyInfo({ name: 'Harbour Lights', onlinePlayers: 1_204, maxPlayers: 2_000, rankPosition: 3 });
  const shown = text(bannerDrawing(size, { info, site: 'Tallyport', goal: GOAL }));
  expect(shown).toEqual(text(drawBanner(info, 'Tallyport', GOAL)));
  expect(shown).toEqual([
    'Harbour Lights',
    '1,204 of 2,000 players',
    'play.example.org:25565',
    'Rank 3',
    'Vote on Tallyport',
    'Vote goal: 12 to go',
  ]);
});

it('a name in a script without fonts gives way to the address; a long one is cut', () => {
  const named = (name: string) =>
    text(bannerDrawing('468x60', { info: anyInfo({ name }), site: '日本', goal: null }));
  expect(named('日本サバイバル')).toMatchObject({
    0: 'play.example.org:25565',
    2: '',
    4: 'Vote on this listing',
  });
  expect(named('W'.repeat(100))[0]).toMatch(/^W+…$/);
  expect(named('خادم ماين كرافت العربي للبقاء والمغامرات الكبرى في العالم المفتوح')[0]).toMatch(/…\u200f$/);
});

it.each([
  ['468x60', 468, 60],
  ['728x90', 728, 90],
] as const)('a drawing of %s has this size in pixels, whatever the name', async (size, width, height) => {
  for (const name of ['a', '<b>&"', 'W'.repeat(100), 'خادم', '日本', '👨‍👩‍👧‍👦', '\u202e\u0000x']) {
    const png = await drawSvg(bannerDrawing(size, { info: anyInfo({ name }), site: 'T', goal: null }));
    expect([png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual([width, height]);
  }
});
