/** Texts about how votes arrive: the page “Delivery”, the last test, earlier votes and the choice of rewards. */
export const FIGURES = {
  Delivery: 'Zustellung',
  'Delivery · {server}': 'Zustellung · {server}',
  'Votes are counted once an hour.': 'Die Stimmen werden einmal in der Stunde gezählt.',
  'Last count with votes of this server: {time}.': 'Letzte Zählung mit Stimmen dieses Servers: {time}.',
  'Success rate': 'Erfolgsquote',
  '{days} days, {votes, plural, one {# vote forwarded} other {# votes forwarded}}':
    '{days} Tage, {votes, plural, one {# Stimme weitergeleitet} other {# Stimmen weitergeleitet}}',
  'Half arrive within': 'Die Hälfte kommt an in',
  '95 % arrive within': '95 % kommen an in',
  Failed: 'Fehlgeschlagen',
  Waiting: 'Wartend',
  '{votes} unconfirmed': '{votes} unbestätigt',
  '{votes} failed': '{votes} fehlgeschlagen',
  '{votes} waiting': '{votes} wartend',
  'Delivered votes': 'Zugestellte Stimmen',
  'Delivered votes per day, last {days} days': 'Zugestellte Stimmen pro Tag, letzte {days} Tage',
  'Deliveries per day': 'Zustellungen pro Tag',
  Forwarded: 'Weitergeleitet',
  Delivered: 'Zugestellt',
  'No votes were forwarded in the last {days} days.':
    'In den letzten {days} Tagen wurden keine Stimmen weitergeleitet.',
  'no votes': 'keine Stimmen',
  '{delivered} of {votes} delivered': '{delivered} von {votes} zugestellt',
  'The success rate is the share of delivered votes among those that were delivered, failed or stayed unconfirmed. Waiting votes do not count. In Votifier v1, a vote that was sent without an answer counts as delivered.':
    'Die Erfolgsquote ist der Anteil der zugestellten Stimmen an denen, die zugestellt wurden, fehlschlugen oder unbestätigt blieben. Wartende Stimmen zählen nicht mit. In Votifier v1 gilt eine Stimme als zugestellt, die ohne Antwort gesendet wurde.',
  'Time to delivery': 'Zeit bis zur Zustellung',
  'Time to delivery per day': 'Zeit bis zur Zustellung pro Tag',
  'Time to delivery per day, last {days} days': 'Zeit bis zur Zustellung pro Tag, letzte {days} Tage',
  'half of them within {time}': 'die Hälfte davon in {time}',
  'Half within': 'Die Hälfte in',
  '95 % within': '95 % in',
  'no vote was delivered': 'keine Stimme wurde zugestellt',
  'No vote was delivered in the last {days} days.':
    'In den letzten {days} Tagen wurde keine Stimme zugestellt.',
  'From the vote to the acknowledgement of the listener, outages and retries included, for votes that were delivered. Votes that somebody sent again by hand are left out. Each time is exact to 5 %.':
    'Von der Stimme bis zur Bestätigung des Listeners, mit Ausfällen und Wiederholungen, für zugestellte Stimmen. Stimmen, die jemand von Hand noch einmal gesendet hat, sind nicht dabei. Jede Zeit ist auf 5 % genau.',
  'Failed attempts by cause': 'Fehlversuche nach Ursache',
  'Failed attempts per day': 'Fehlversuche pro Tag',
  'Failed attempts per day, last {days} days': 'Fehlversuche pro Tag, letzte {days} Tage',
  'Failed attempts': 'Fehlversuche',
  'Votes that failed': 'Fehlgeschlagene Stimmen',
  'No attempt failed in the last {days} days.': 'In den letzten {days} Tagen schlug kein Versuch fehl.',
  Cause: 'Ursache',
  Last: 'Zuletzt',
  'By the day of the vote. A vote may have several failed attempts and arrive in the end: <a>the list of votes</a> has the timeline of each.':
    'Nach dem Tag der Stimme. Eine Stimme kann mehrere Fehlversuche haben und am Ende ankommen: Die <a>Liste der Stimmen</a> zeigt den Verlauf jeder einzelnen.',
  'Votes by source': 'Stimmen nach Herkunft',
  'Votes by source per day': 'Stimmen nach Herkunft pro Tag',
  'Votes by source per day, last {days} days': 'Stimmen nach Herkunft pro Tag, letzte {days} Tage',
  '{page} on the page, {api} through the API': '{page} auf der Seite, {api} über die API',
  'On the page': 'Auf der Seite',
  'Through the API': 'Über die API',
  Excluded: 'Ausgeschlossen',
  'Last test, {time}': 'Letzter Test, {time}',
  'The listener has the port of the game itself, as it is listed here: players join there, and the vote plugin listens on a port of its own.':
    'Der Listener hat den Port des Spiels selbst, wie er hier eingetragen ist: Dort betreten Spieler den Server, und das Vote-Plugin lauscht auf einem eigenen Port.',
  'Set the port from the vote plugin’s configuration, usually 8192, and open it in the firewall and in the hosting panel.':
    'Setze den Port aus der Konfiguration des Vote-Plugins, meist 8192, und öffne ihn in der Firewall und im Hosting-Panel.',
  '{votes, plural, one {# vote was cast before this listener was set, and never sent.} other {# votes were cast before this listener was set, and never sent.}}':
    '{votes, plural, one {# Stimme wurde abgegeben, bevor dieser Listener eingerichtet war, und nie gesendet.} other {# Stimmen wurden abgegeben, bevor dieser Listener eingerichtet war, und nie gesendet.}}',
  '{votes} votes or more were cast before this listener was set, and never sent.':
    '{votes} Stimmen oder mehr wurden abgegeben, bevor dieser Listener eingerichtet war, und nie gesendet.',
  'Votes can be sent for 30 days after they were cast.':
    'Stimmen können bis 30 Tage nach ihrer Abgabe gesendet werden.',
  '{votes, plural, one {Send it} other {Send them}}': '{votes, plural, one {Senden} other {Alle senden}}',
  'The earlier votes are being sent, the oldest first.':
    'Die früheren Stimmen werden gesendet, die ältesten zuerst.',
  'No earlier votes were left to send.': 'Es waren keine früheren Stimmen mehr zu senden.',
  'Choose how players are rewarded.': 'Wähle, wie Spieler belohnt werden.',
  'For Votifier plugins, websites and servers that fetch. Plugins that ask for votes are told that claims are off.':
    'Für Votifier-Plugins, Websites und Server, die abrufen. Plugins, die nach Stimmen fragen, erfahren, dass das Abholen aus ist.',
  'For plugins with a claim key. The listener receives no votes.':
    'Für Plugins mit einem Claim-Key. Der Listener erhält keine Stimmen.',
  'Only if one of them gives no rewards. If both do, each vote is rewarded twice.':
    'Nur, wenn eines von beiden keine Belohnung gibt. Geben beide eine, wird jede Stimme zweimal belohnt.',
  'You have not chosen yet. Until you do, both apply.': 'Du hast noch nicht gewählt. Bis dahin gilt beides.',
} as const satisfies Record<string, string>;
