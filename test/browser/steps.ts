import type { Locator } from 'playwright-core';
import { expect } from 'vitest';
import { PASSWORD } from '../support/sign-in.ts';
import type { Tab } from './tab.ts';

/** Signs a user up and opens the dashboard. */
export async function signUp({ page, open }: Tab, email: string): Promise<void> {
  await open('/sign-up?next=/dashboard');
  await page.getByLabel('Your name').fill('Ada Owner');
  await page.getByLabel('E-mail address').fill(email);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign up' }).click();
  await page.getByRole('heading', { name: 'Your servers' }).waitFor();
}

/** Signs a user in. */
export async function signIn({ page, open }: Tab, email: string, password = PASSWORD): Promise<void> {
  await open('/sign-in');
  await page.getByLabel('E-mail address').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
}

/** Sets or changes the listener on its page, which then shows the result of a test vote. */
export async function setListener({ page }: Tab, port: number, secret: string): Promise<void> {
  await page.getByLabel('Host').fill('127.0.0.1');
  await page.getByLabel('Port').fill(String(port));
  await page.getByLabel('Token').fill(secret);
  await page.getByRole('button', { name: /Save vote listener|Save settings/ }).click();
  await page.getByText('Vote listener saved').waitFor();
}

/** The longest refresh interval of a live part, in milliseconds. */
const REFRESH_MS = 15_000;

/** Waits until a live page shows `wanted`. Moves the page's clock, so the test must have installed one. */
export function refreshesTo({ page }: Tab, wanted: Locator): Promise<void> {
  const refreshed = async () => {
    await page.clock.fastForward(REFRESH_MS);
    return wanted.first().isVisible();
  };
  return expect.poll(refreshed, { interval: 200 }).toBe(true);
}

/** The time between two reloads in milliseconds: in the 45 s of a poll, fewer pages than `PAGES_A_MINUTE`. */
const RELOAD_MS = 250;

/** Waits until a live part shows `text`. Without scripts, it reloads the page by the link of the part. */
export async function comesToSay(
  tab: Tab,
  part: string,
  text: string,
  { scripted }: { scripted: boolean },
): Promise<void> {
  const { page } = tab;
  if (scripted) return refreshesTo(tab, page.locator(part).getByText(text));
  const said = async () => (await page.locator(part).allTextContents()).join();
  const refreshed = async () => {
    // A part that has come to its end has no such link any more.
    if ((await said()).includes(text)) return said();
    const link = page.getByRole('link', { name: 'Refresh' });
    if ((await link.count()) === 0) {
      // An error page has no such link either. If it stays until the end of the poll, the test's error says what is on it.
      const instead = await page.locator('body').innerText();
      await page.reload();
      throw new Error(instead);
    }
    await link.click();
    return said();
  };
  await expect.poll(refreshed, { interval: RELOAD_MS }).toContain(text);
}

/** Calls the API as a plugin does, and returns the status and the body. */
export async function call(
  url: string,
  { serverId, token }: { serverId: string; token: string },
  endpoint: string,
  body?: object,
): Promise<{ status: number; answer: Record<string, unknown> }> {
  const response = await fetch(`${url}/api/v1/servers/${serverId}/${endpoint}`, {
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body ? { method: 'POST', body: JSON.stringify(body) } : {}),
  });
  return { status: response.status, answer: (await response.json()) as Record<string, unknown> };
}
