import { t } from '../../language/t.ts';
import type { Listener } from '../../listeners/listener.ts';
import type { Server } from '../../servers/server.ts';
import { RELAY_JAR_PATH } from '../relay-jar.ts';
import { serverPath } from '../shared/dashboard-paths.ts';
import { fetchedText } from '../shared/fetch-state.ts';
import { type Html, html } from '../shared/html.ts';
import { card, copyable } from '../shared/parts.ts';
import { newIdField } from './hidden-ids.ts';

/** Shown instead of the relay's key (a delivery token). The key itself is shown only once, when it is created. */
const NO_KEY = 'YOUR-KEY';

type Relay = {
  base: string;
  /** The listing's URL without a slash at the end. */
  url: string;
  server: Pick<Server, '_id'>;
  listener: Pick<Listener, 'protocol' | 'fetched'> | null;
  /** A new delivery token, shown once; null otherwise. */
  key: string | null;
  now: Date;
};

/** The card with the relay: the jar, its two lines of configuration, and when it last fetched votes. */
export function relayCard({ base, url, server, listener, key, now }: Relay): Html {
  const path = serverPath(base, server);
  const isFetching = listener?.protocol === 'fetch';
  const lines = `server=${url}/api/v1/servers/${server._id.toHexString()}\nkey=${key ?? NO_KEY}`;
  const choose = t(
    'Choose “<a>My server fetches its votes</a>” under “Vote listener”. Until then it gets none.',
    {
      a: (text) => html`<a href="${path}/listener?protocol=fetch#settings">${text}</a>`,
    },
  );
  const about = t(
    'The relay is a small program beside your game server. It fetches your votes from here and hands them to the Votifier that is installed there, so no port needs to be open. It needs only the Java of your server.',
  );
  const put = t(
    '<a>Download tallyport-relay.jar</a> and put it into the folder <code>plugins</code> of your server (Bukkit, Spigot, Paper), then start the server once. On another server, put it beside the server and run <code>java -jar tallyport-relay.jar</code>.',
    { a: (text) => html`<a href="${base}${RELAY_JAR_PATH}" download>${text}</a>` },
  );
  const fill = t(
    'Put these two lines into <code>tallyport-relay.properties</code>, which the relay wrote: in <code>plugins/TallyportRelay</code>, or beside the jar.',
  );
  const haveKey = key
    ? t('Your key is filled in below. Copy it now: it is shown only once.')
    : t('Create a key for the relay. It is shown once, filled in below.');
  const ofKey = t(
    'The key may only fetch votes of this server and report what became of them. It does not expire; you can revoke it under “API access”.',
  );
  return card({
    id: 'relay',
    title: t('Without an open port: the relay (Minecraft: Java Edition)'),
    isResult: key !== null,
    body: html`<p>${about}</p>
      ${isFetching ? html`<p>${fetchedText(listener, now)}</p>` : html`<p>${choose}</p>`}
      <ol class="spaced">
        <li>${put}</li>
        <li>${haveKey} ${key ? '' : keyForm(`${path}/connect/relay`)}</li>
        <li>${fill} ${copyable(lines, t('the two lines'))}</li>
      </ol>
      <p class="small soft">${ofKey}</p>`,
  });
}

function keyForm(action: string): Html {
  return html`<form method="post" action="${action}" class="one-button">
    ${newIdField()}
    <button type="submit">${t('Create a key')}</button>
  </form>`;
}
