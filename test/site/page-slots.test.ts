import type { FastifyInstance } from 'fastify';
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createSlots, type TakeSlot } from '../../src/http/slots.ts';
import { addOwnedServer } from '../support/owned-server.ts';
import { signIn } from '../support/sign-in.ts';
import { voteOnPage } from '../support/vote-form.ts';
import { getPage, openWebApp, textOf, type WebApp } from '../support/web-app.ts';

const ONE = { atOnce: 1, mostWaiting: 1, mostOfClient: 10, waitMs: 60_000 };

describe('slots', () => {
  it('are given in the order of the requests, and not at once', async () => {
    const take = createSlots({ ...ONE, mostWaiting: 10 });
    const order: string[] = [];
    const giveBack = await take('ann');
    const later = ['first', 'second'].map(async (name) => {
      const done = await take('ann');
      order.push(name);
      done();
    });
    giveBack();
    // A slot is returned once, even if the function is called twice.
    giveBack();
    const handled = new Promise<void>((resolve) => {
      setImmediate(() => {
        order.push('what has arrived meanwhile');
        resolve();
      });
    });
    await Promise.all([...later, handled]);
    expect(order).toEqual(['first', 'what has arrived meanwhile', 'second']);
    // Both slots are free again: taking one does not wait.
    (await take('ann'))();
  });

  it('are refused at once when too many wait, and after the longest wait', async () => {
    const take = createSlots({ ...ONE, waitMs: 50 });
    const giveBack = await take('ann');
    const late = take('ann');
    const refusal = { refusal: { status: 503, code: 'overloaded', headers: { 'retry-after': '5' } } };
    await expect(take('bob')).rejects.toMatchObject(refusal);
    await expect(late).rejects.toMatchObject(refusal);
    giveBack();
    (await take('ann'))();
  });

  it('are refused to a client with too many waiting requests, and to no other client', async () => {
    const take = createSlots({ ...ONE, mostWaiting: 10, mostOfClient: 2 });
    const giveBack = await take('flood');
    const waiting = [take('flood'), take('flood'), take('ann')];
    await expect(take('flood')).rejects.toMatchObject({ refusal: { status: 503 } });
    giveBack();
    for (const slot of waiting) (await slot)();
    (await take('flood'))();
  });
});

describe('pages', () => {
  let web: WebApp;
  let slug: string;
  let headers: Record<string, string>;

  beforeAll(async () => {
    web = await openWebApp();
    const owner = await signIn(web);
    ({ headers } = owner);
    const serverId = await addOwnedServer(web.deps, owner.userId, { name: 'Alpha' });
    slug = (await web.deps.servers.findOne({ _id: serverId }))?.slug ?? '';
  });

  /** Replaces the application's slots with one slot for visitors and one for users, and takes both. */
  async function allTaken(app: FastifyInstance): Promise<Record<'visitors' | 'users', () => void>> {
    const slots: Record<'visitors' | 'users', TakeSlot> = {
      visitors: createSlots(ONE),
      users: createSlots(ONE),
    };
    const before = { ...app.pageSlots };
    Object.assign(app.pageSlots, slots);
    onTestFinished(() => void Object.assign(app.pageSlots, before));
    return { visitors: await slots.visitors('another'), users: await slots.users('another') };
  }

  it('wait for a slot; with too many of them a browser gets the error page and can try again', async () => {
    const { visitors } = await allTaken(web.app);
    const both = ['/games/minecraft', `/servers/${slug}?players=7d`].map(async (path) => getPage(web, path));
    const refused = await Promise.race(both);
    expect([refused.statusCode, refused.headers['retry-after']]).toEqual([503, '5']);
    expect(textOf(refused.body)).toContain('There is too much to do at this moment');
    visitors();
    const statuses = (await Promise.all(both)).map(({ statusCode }) => statusCode);
    expect(statuses.toSorted()).toEqual([200, 503]);
  });

  it('have two slots for visitors and two for users; 20 requests of a client, and 100 in all, wait up to 5 s', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const { visitors, users } = web.app.pageSlots;
    for (const take of [visitors, users]) {
      const held = [await take('ann'), await take('ann')];
      let refused = 0;
      for (const client of ['ann', 'bob', 'cem', 'dora', 'eve']) {
        for (let n = 0; n < 20; n += 1) take(client).catch(() => (refused += 1));
        await expect(take(client)).rejects.toMatchObject({ refusal: { status: 503 } });
      }
      await expect(take('flo')).rejects.toMatchObject({ refusal: { status: 503 } });
      await vi.advanceTimersByTimeAsync(4_999);
      expect(refused).toBe(0);
      await vi.advanceTimersByTimeAsync(1);
      expect(refused).toBe(100);
      for (const giveBack of held) giveBack();
    }
  });

  it('wait for one too when they are not public', async () => {
    const { visitors, users } = await allTaken(web.app);
    const { pageSlots } = web.app;
    const waiting = [pageSlots.visitors('another'), pageSlots.users('another')];
    expect((await getPage(web, '/sign-in')).statusCode).toBe(503);
    expect((await getPage(web, '/account', headers)).statusCode).toBe(503);
    visitors();
    users();
    for (const slot of waiting) (await slot)();
    expect((await getPage(web, '/account', headers)).statusCode).toBe(200);
  });

  it('do not delay votes, files, or pages from the cache', async () => {
    const kept = '/how-ranking-works';
    expect((await getPage(web, kept)).statusCode).toBe(200);
    await allTaken(web.app);
    expect((await getPage(web, kept)).statusCode).toBe(200);
    expect((await getPage(web, web.app.site.asset('site.css'))).statusCode).toBe(200);
    expect((await voteOnPage(web, slug, 'Steve')).statusCode).toBe(303);
  });

  it('do not wait for banners as PNG, nor the other way round', async () => {
    const { visitors } = await allTaken(web.app);
    const { pageSlots } = web.app;
    const waiting = pageSlots.visitors('another');
    expect((await getPage(web, `/servers/${slug}/banner.svg`)).statusCode).toBe(503);
    expect((await getPage(web, `/servers/${slug}/banner.png`)).statusCode).toBe(200);
    visitors();
    (await waiting)();
    pageSlots.drawn = createSlots(ONE);
    const drawn = await pageSlots.drawn('another');
    const asked = getPage(web, `/servers/${slug}/banner.png?size=728x90`);
    expect((await getPage(web, `/servers/${slug}/badge.svg`)).statusCode).toBe(200);
    drawn();
    expect((await asked).statusCode).toBe(200);
  });

  it('of signed-in users do not wait for those of visitors', async () => {
    const { users } = await allTaken(web.app);
    users();
    for (const path of ['/', `/servers/${slug}`, '/dashboard/', '/account', `/servers/${slug}/vote`]) {
      expect((await getPage(web, path, headers)).statusCode, path).toBe(200);
    }
  });

  it('give their slots back, whatever becomes of them', async () => {
    const { visitors, users } = await allTaken(web.app);
    visitors();
    users();
    const paths = ['/', '/sign-in', '/servers/nobody', `/servers/${slug}/vote`, '/servers/', '/account'];
    for (let n = 0; n < 3; n += 1) {
      for (const path of paths) {
        expect((await getPage(web, path)).statusCode, path).toBeLessThan(500);
        expect((await getPage(web, path, headers)).statusCode, path).toBeLessThan(500);
      }
    }
  });
});
