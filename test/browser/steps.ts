import type { Locator } from 'playwright-core';
import { expect } from 'vitest';
import { PASSWORD } from '../support/sign-in.ts';
import type { Tab } from './tab.ts';

/** Somebody signs up, and is shown their servers. */
export async function signUp({ page, open }: Tab, email: string): Promise<void> {
  await open('/sign-up');
  await page.getByLabel('Your name').fill('Ada Owner');
  await page.getByLabel('E-mail address').fill(email);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign up' }).click();
  await page.getByRole('heading', { name: 'Your servers' }).waitFor();
}

/** Somebody signs in. */
export async function signIn({ page, open }: Tab, email: string, password = PASSWORD): Promise<void> {
  await open('/sign-in');
  await page.getByLabel('E-mail address').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
}

/** Sets the listener, or changes it, on its page. */
export async function setListener({ page }: Tab, port: number, secret: string): Promise<void> {
  await page.getByLabel('Host').fill('127.0.0.1');
  await page.getByLabel('Port').fill(String(port));
  await page.getByLabel('Token').fill(secret);
  await page.getByRole('button', { name: /Set the listener|Save the settings/ }).click();
  await page.getByText('The listener is set').waitFor();
}

/** As long as a part of a page may wait before it refreshes itself, in milliseconds. */
const REFRESH_MS = 15_000;

/** Waits until a page that refreshes itself shows `wanted`. Its clock is moved: it was installed before. */
export function refreshesTo({ page }: Tab, wanted: Locator): Promise<void> {
  const refreshed = async () => {
    await page.clock.fastForward(REFRESH_MS);
    return wanted.first().isVisible();
  };
  return expect.poll(refreshed, { interval: 200 }).toBe(true);
}

/** A part of the page says `text` by itself; whoever has no script asks for the page anew. */
export async function comesToSay(
  tab: Tab,
  part: string,
  text: string,
  { scripted }: { scripted: boolean },
): Promise<void> {
  const { page } = tab;
  if (scripted) return refreshesTo(tab, page.locator(part).getByText(text));
  const refreshed = async () => {
    await page.getByRole('link', { name: 'Refresh' }).click();
    return page.locator(part).textContent();
  };
  await expect.poll(refreshed).toContain(text);
}

/** A call of the API, as a plugin makes it; `answer` is its body. */
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
