import { describe, expect, test } from 'vitest';
import { addOwnedServer } from '../support/owned-server.ts';
import { signIn } from '../support/sign-in.ts';
import { startSteamProvider } from '../support/steam-provider.ts';
import { startSite } from './running-site.ts';
import { chromium, launchBrowser, openTab } from './tab.ts';

const GABE = '76561197960287930';

describe.skipIf(!chromium)('a player of a Steam game, in a browser', () => {
  test('signs in through Steam from the server’s page, votes as that SteamID, and drops it', async () => {
    const steam = await startSteamProvider();
    const site = await startSite(steam.env);
    const browser = await launchBrowser();
    const owner = await signIn(site);
    const serverId = await addOwnedServer(site.deps, owner.userId, { name: 'Rusty', game: 'rust' });
    const form = `${site.url}/servers/rusty/vote`;

    const visitor = await openTab(browser, site.url);
    await visitor.open('/servers/rusty/vote');
    await visitor.check();

    // A tab of its own, because the provider is another site.
    const { page, open } = await openTab(browser, site.url);
    await open('/servers/rusty');
    await page.getByRole('link', { name: 'Sign in through Steam' }).click();
    await page.getByText(`Voting as ${GABE}`).waitFor();
    expect(page.url()).toBe(form);
    await visitor.page.context().addCookies(await page.context().cookies(form));
    await visitor.open('/servers/rusty/vote');
    await visitor.check();

    await page.getByRole('button', { name: 'Vote', exact: true }).click();
    await page.getByRole('heading', { name: `Your vote counts, ${GABE}.` }).waitFor();
    expect(await site.deps.votes.findOne({ serverId })).toMatchObject({ username: GABE, identity: 'proven' });

    await open('/servers/rusty/vote');
    await page.getByRole('button', { name: 'Not you?' }).click();
    await page.getByLabel('Your SteamID').waitFor();

    await site.deps.servers.updateOne({ _id: serverId }, { $set: { provenIdOnly: true } });
    await visitor.page.context().clearCookies();
    await visitor.open('/servers/rusty/vote');
    await visitor.page.getByText('takes votes only from players who signed in through Steam').waitFor();
    await visitor.check();
  });
});
