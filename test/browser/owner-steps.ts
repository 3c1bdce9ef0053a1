import type { Page } from 'playwright-core';
import { expect, onTestFinished } from 'vitest';
import { VotifierListener } from '../../src/demo/votifier-listener.ts';
import { JavaServer } from '../support/fake-game-servers.ts';
import { call, comesToSay, setListener, signUp } from './steps.ts';
import type { Tab } from './tab.ts';

/** The owner's side: a game server and a vote listener. */
async function atTheOwners() {
  const [game, listener] = [new JavaServer(), new VotifierListener()];
  await Promise.all([game.start(), listener.start()]);
  onTestFinished(() => game.stop());
  onTestFinished(() => listener.stop());
  return { game, listener };
}

/** Adds a server, puts the ownership code into its message, and lets the listing check it. Returns the server's id. */
async function addServer({ page, check }: Tab, game: JavaServer): Promise<string> {
  game.said = { motd: 'A quiet place', version: 'Paper 1.21.4', online: 12, max: 64 };
  await page.getByRole('link', { name: 'Add a server' }).first().click();
  await page.getByLabel('Name').fill('Alpha Craft');
  await page.getByLabel('Address').fill('127.0.0.1');
  await page.getByLabel('Port', { exact: true }).fill(String(game.port));
  await page.getByLabel('Game').fill('Minecraft');
  await page.getByRole('button', { name: 'Check the server' }).click();
  await page.getByText(/Server reached: 12 of 64 players, \d+ ms/).waitFor();
  await page.getByText('Code not found in the message yet.').waitFor();
  const code = (await page.getByLabel('the code').first().textContent())?.trim() ?? '';
  game.said.motd = `A quiet place, ${code}`;
  await page.getByRole('button', { name: 'Check now' }).click();
  await page.getByText('Server listed.').waitFor();
  await check();
  return /servers\/([0-9a-f]{24})/.exec(page.url())?.[1] ?? '';
}

/** Opens a part of the server by the rail; on a phone, by the button that opens the parts. */
export async function openPart(page: Page, name: string): Promise<void> {
  const button = page.locator('.parts-open');
  if (await button.isVisible()) await button.click();
  await page.locator('.rail').getByRole('link', { name }).click();
}

/** Creates a token and returns it. */
async function makeToken({ page, check }: Tab): Promise<string> {
  await openPart(page, 'API access');
  await page.getByLabel('Name').fill('website');
  await page.getByRole('button', { name: 'Create token' }).click();
  await page.getByRole('heading', { name: 'Your new token' }).waitFor();
  await check();
  const token = (await page.locator('.new-token code').textContent())?.trim() ?? '';
  await openPart(page, 'API access');
  expect(await page.content()).not.toContain(token);
  return token;
}

/** The way of an owner, from signing up to a vote that has arrived, and a token that is refused. */
export async function fromSignUpToAVote(
  url: string,
  tab: Tab,
  email: string,
  scripted: boolean,
): Promise<void> {
  const { game, listener } = await atTheOwners();
  const { page, open, check } = tab;
  if (scripted) await page.clock.install();
  await signUp(tab, email);

  const serverId = await addServer(tab, game);
  const token = await makeToken(tab);
  const path = `/dashboard/servers/${serverId}`;
  const info = await call(url, { serverId, token }, 'info');
  expect(info.answer).toMatchObject({ name: 'Alpha Craft', connection_port: game.port });

  await open(`${path}/listener`);
  await setListener(tab, listener.port, listener.token);
  await page.getByText('The test vote arrived').waitFor();
  await page.getByRole('button', { name: 'Send another test vote' }).click();
  await page.getByText('The test vote arrived').waitFor();
  await check();
  const tests = listener.votes.length;

  // Open the page before the vote is cast.
  await open(`${path}/votes`);
  const vote = await call(url, { serverId, token }, 'vote', { username: 'Steve' });
  expect(vote).toMatchObject({ status: 200, answer: { success: true, monthly_votes: 1 } });
  await comesToSay(tab, '#votes tbody', 'delivered', { scripted });
  expect(await page.getByRole('row').filter({ hasText: 'Steve' }).textContent()).toContain('delivered');
  await check();
  expect(listener.votes.slice(tests).map(({ username }) => username)).toEqual(['Steve']);

  await open(`${path}/tokens`);
  await page.locator('summary', { hasText: 'Revoke website' }).click();
  await page.getByRole('button', { name: 'Revoke token website' }).click();
  await page.getByText('Token revoked.').waitFor();
  await expect.poll(async () => (await call(url, { serverId, token }, 'info')).status).toBe(401);
}
