/** Texts of the owner's votes: their list, their timelines and sending them again. */
export const VOTES = {
  Player: 'Spieler',
  'From (UTC day)': 'Ab (UTC-Tag)',
  To: 'Bis',
  'Show all': 'Alle zeigen',
  'confirmed after {duration}': 'nach {duration} bestätigt',
  'confirmed after a manual resend': 'nach erneutem Senden bestätigt',
  'on the {number, selectordinal, one {#st} two {#nd} few {#rd} other {#th}} attempt':
    'beim {number}. Versuch',
  'Votes queued again.': 'Stimmen wieder eingereiht.',
  'Nothing to send. The votes are already queued.': 'Nichts zu senden. Die Stimmen sind schon eingereiht.',
  'No vote listener.': 'Kein Vote-Listener.',
  'Open vote listener': 'Vote-Listener öffnen',
  'Set up the vote listener': 'Vote-Listener einrichten',
  'Votes, newest first': 'Stimmen, neueste zuerst',
  Cast: 'Abgegeben',
  'not counted': 'nicht gezählt',
  'No matching votes on this page. Continue with older ones.':
    'Keine passenden Stimmen auf dieser Seite. Weiter mit älteren.',
  'No matching votes.': 'Keine passenden Stimmen.',
  'No votes yet. Votes come from the vote form on the server’s page, and from plugins and websites that use an API token.':
    'Noch keine Stimmen. Stimmen kommen aus dem Abstimmformular auf der Seite des Servers und von Plugins und Websites mit einem API-Token.',
  'This server has no vote listener. Set one up first.':
    'Dieser Server hat keinen Vote-Listener. Richte zuerst einen ein.',
  '{votes} queued again. You can send {times} delivered votes again per hour. Send the others {time}.':
    '{votes} wieder eingereiht. Du kannst je Stunde {times} zugestellte Stimmen noch einmal senden. Sende die anderen {time}.',
  'Back to votes': 'Zurück zu den Stimmen',
  'Send votes again · {server}': 'Stimmen noch einmal senden · {server}',
  '{sent} queued again. There are more.': '{sent} wieder eingereiht. Es gibt noch mehr.',
  'Send votes again': 'Stimmen noch einmal senden',
  'These votes are already queued.': 'Diese Stimmen sind schon eingereiht.',
  'Send {votes, plural, one {# vote} other {# votes}} again':
    '{votes, plural, one {# Stimme} other {# Stimmen}} noch einmal senden',
  'No matching votes to send.': 'Keine passenden Stimmen zum Senden.',
  '<strong>{votes}</strong> or more will be queued again.':
    '<strong>{votes}</strong> oder mehr werden wieder eingereiht.',
  '<strong>{votes}</strong> will be queued again.': '<strong>{votes}</strong> wird wieder eingereiht.',
  'from {since}': 'ab {since}',
  'in the last 30 days': 'in den letzten 30 Tagen',
  'to {until}': 'bis {until}',
  'before {time}': 'vor {time}',
  'The first {votes} are sent first, oldest first. You can then send the rest.':
    'Die ersten {votes} werden zuerst gesendet, die ältesten voran. Danach kannst du den Rest senden.',
  'You can send votes for 30 days after they were cast. Imported votes are never sent.':
    'Du kannst Stimmen 30 Tage nach ihrer Abgabe senden. Importierte Stimmen werden nie gesendet.',
  'These votes were delivered. Each will arrive twice.':
    'Diese Stimmen wurden zugestellt. Jede kommt dann zweimal an.',
  'Nothing confirmed these votes, as with most Votifier v1 listeners. Votes that have arrived will arrive twice. Send only votes that did not reach your game.':
    'Nichts hat diese Stimmen bestätigt, wie bei den meisten Votifier-v1-Listenern. Angekommene Stimmen kommen dann zweimal an. Sende nur Stimmen, die dein Spiel nicht erreicht haben.',
  'These votes may have arrived. Some may arrive twice.':
    'Diese Stimmen sind vielleicht angekommen. Manche kommen dann zweimal an.',
  'These votes surely did not arrive.': 'Diese Stimmen sind sicher nicht angekommen.',
  'These votes may have arrived, or plugins claimed them. Their players may be rewarded twice.':
    'Diese Stimmen sind vielleicht angekommen, oder Plugins haben sie abgeholt. Die Spieler werden vielleicht zweimal belohnt.',
  'Not sent with these: <a>{votes} that may have arrived or that plugins claimed</a>.':
    'Nicht mitgesendet: <a>{votes}, vielleicht angekommen oder von Plugins abgeholt</a>.',
  'The host name did not resolve.': 'Der Hostname ließ sich nicht auflösen.',
  'The address was found, but the connection failed.':
    'Die Adresse wurde gefunden, aber die Verbindung schlug fehl.',
  'Connected.': 'Verbunden.',
  'Connected and received the greeting.': 'Verbunden und Begrüßung empfangen.',
  'Sent the vote.': 'Stimme gesendet.',
  'Sent the vote and received an answer.': 'Stimme gesendet und eine Antwort empfangen.',
  'Listener test': 'Test des Listeners',
  Attempt: 'Versuch',
  'Started by {cause}.': 'Ausgelöst durch {cause}.',
  'in progress': 'läuft',
  transient: 'vorübergehend',
  ambiguous: 'unklar',
  configuration: 'Einstellungen',
  'vote-only': 'nur diese Stimme',
  'outcome unknown': 'Ausgang unbekannt',
  'Worker {worker}.': 'Worker {worker}.',
  'Duration: {duration}.': 'Dauer: {duration}.',
  'Listener’s answer: “<bdi>{words}</bdi>”': 'Antwort des Listeners: „<bdi>{words}</bdi>“',
  'Detail: {detail}': 'Einzelheit: {detail}',
  'to {time}': 'bis {time}',
  'Their details are not kept.': 'Ihre Einzelheiten werden nicht aufbewahrt.',
  'Vote queued again.': 'Stimme wieder eingereiht.',
  'The vote is already queued.': 'Die Stimme ist schon eingereiht.',
  'This server has no vote with this id.': 'Dieser Server hat keine Stimme mit dieser Id.',
  'All votes': 'Alle Stimmen',
  'The vote of {username}: {state}.': 'Die Stimme von {username}: {state}.',
  'Vote of <bdi>{username}</bdi>': 'Stimme von <bdi>{username}</bdi>',
  Timeline: 'Verlauf',
  'Vote of {username} · {server}': 'Stimme von {username} · {server}',
  'Imported votes are never forwarded.': 'Importierte Stimmen werden nie weitergeleitet.',
  'This vote is quarantined: the operator of this listing decides about it.':
    'Diese Stimme wird zurückgehalten: Der Betreiber dieses Verzeichnisses entscheidet über sie.',
  'You can send votes for 30 days after they were cast. This vote is older.':
    'Du kannst Stimmen 30 Tage nach ihrer Abgabe senden. Diese Stimme ist älter.',
  'You can send {times} delivered votes again per hour.':
    'Du kannst je Stunde {times} zugestellte Stimmen noch einmal senden..',
  'no: it is quarantined': 'nein: Sie wird zurückgehalten',
  'no: an operator excluded it': 'nein: Ein Betreiber hat sie ausgeschlossen',
  Attempts: 'Versuche',
  'none yet': 'noch keine',
  'Cast with': 'Abgegeben mit',
  'the vote form': 'dem Abstimmformular',
  Claimed: 'Abgeholt',
  'by a plugin, {time}': 'von einem Plugin, {time}',
  Counted: 'Gezählt',
  'Vote id': 'Id der Stimme',
  'An earlier sending arrived.': 'Eine frühere Sendung ist angekommen.',
  'It may have arrived before.': 'Sie ist vielleicht schon angekommen.',
  'It may have arrived more than once.': 'Sie ist vielleicht mehr als einmal angekommen.',
  'Its name may arrive mangled: many Votifier v1 listeners take only ASCII; v2 keeps it.':
    'Ihr Name kommt vielleicht verstümmelt an: Viele Votifier-v1-Listener nehmen nur ASCII an; v2 behält ihn.',
  'It expires {time}.': 'Sie läuft {time} ab.',
  'An attempt is in progress.': 'Ein Versuch läuft gerade.',
  'Waiting until the server fetches it.': 'Wartet, bis der Server sie abruft.',
  'The server can fetch it again {time}.': 'Der Server kann sie {time} noch einmal abrufen.',
  'The server fetched it. The program that fetched it has not reported a result yet.':
    'Der Server hat sie abgerufen. Das Programm, das sie abgerufen hat, hat noch kein Ergebnis gemeldet.',
  'Fetched, but nobody knows whether it reached the game: the program that fetched it reported no result, or did not know. It is not handed out again automatically.':
    'Abgerufen, aber niemand weiß, ob sie im Spiel angekommen ist: Das Programm, das sie abgerufen hat, hat kein Ergebnis gemeldet oder kannte es nicht. Sie wird nicht von selbst noch einmal ausgegeben.',
  'Fetched and delivered: the program that fetched it confirmed this.':
    'Abgerufen und zugestellt: Das Programm, das sie abgerufen hat, hat es bestätigt.',
  'Fetched and delivered on {time}: the program that fetched it confirmed this.':
    'Abgerufen und zugestellt am {time}: Das Programm, das sie abgerufen hat, hat es bestätigt.',
  'Fetched and handed to a plugin that confirms nothing, such as Votifier v1.':
    'Abgerufen und an ein Plugin gegeben, das nichts bestätigt, etwa Votifier v1.',
  'Fetched, and handed on {time} to a plugin that confirms nothing, such as Votifier v1.':
    'Abgerufen und am {time} an ein Plugin gegeben, das nichts bestätigt, etwa Votifier v1.',
  'Reported reason: “<bdi>{words}</bdi>”': 'Gemeldeter Grund: „<bdi>{words}</bdi>“',
  'fetched, no result yet': 'abgerufen, noch kein Ergebnis',
  'It was not handed over.': 'Sie wurde nicht weitergegeben.',
  'It was handed over.': 'Sie wurde weitergegeben.',
  'It may have been handed over.': 'Sie wurde vielleicht weitergegeben.',
  'Restored from a backup. It may have arrived since the backup. It is not sent again automatically.':
    'Aus einer Sicherung wiederhergestellt. Sie kam seit der Sicherung vielleicht an. Sie wird nicht von selbst noch einmal gesendet.',
  'Sent, but the listener did not answer. It may have arrived. It is not sent again automatically.':
    'Gesendet, aber der Listener hat nicht geantwortet. Sie ist vielleicht angekommen. Von selbst wird sie nicht noch einmal gesendet.',
  'Sent, but the website answered with an error of its server (HTTP 5xx or 408). It may have arrived. It is not sent again automatically.':
    'Gesendet, aber die Website hat mit einem Serverfehler geantwortet (HTTP 5xx oder 408). Sie ist vielleicht angekommen. Von selbst wird sie nicht noch einmal gesendet.',
  'It can be sent again until {time}.': 'Sie kann bis {time} noch einmal gesendet werden.',
  'Delivered and confirmed by the listener.': 'Zugestellt und vom Listener bestätigt.',
  'Delivered.': 'Zugestellt.',
  'Delivered on {time}.': 'Zugestellt am {time}.',
  'Delivered on {time} and confirmed by the listener.': 'Zugestellt am {time} und vom Listener bestätigt.',
  'Sent on {time}, not confirmed. The listener closed the connection without an answer, as most Votifier v1 listeners do.':
    'Gesendet am {time}, nicht bestätigt. Der Listener hat die Verbindung ohne Antwort geschlossen, wie es die meisten Votifier-v1-Listener tun.',
  'Sent, not confirmed. The listener closed the connection without an answer, as most Votifier v1 listeners do.':
    'Gesendet, nicht bestätigt. Der Listener hat die Verbindung ohne Antwort geschlossen, wie es die meisten Votifier-v1-Listener tun.',
  'This vote was imported. Imported votes are never forwarded.':
    'Diese Stimme wurde importiert. Importierte Stimmen werden nie weitergeleitet.',
  'This vote is quarantined: it looks unusual, and the operator of this listing decides whether it counts and is delivered.':
    'Diese Stimme wird zurückgehalten: Sie ist auffällig, und der Betreiber dieses Verzeichnisses entscheidet, ob sie zählt und zugestellt wird.',
  'The operator of this listing excluded this vote before it was delivered.':
    'Der Betreiber dieses Verzeichnisses hat diese Stimme ausgeschlossen, bevor sie zugestellt war.',
  'The server had no vote listener when this vote was cast, or its plugins claim the votes. It can be sent when there is a listener.':
    'Als diese Stimme abgegeben wurde, hatte der Server keinen Vote-Listener, oder seine Plugins holen die Stimmen ab. Sie kann gesendet werden, sobald es einen Listener gibt.',
  'The vote listener was removed while this vote waited. It can be sent when there is one again.':
    'Der Vote-Listener wurde entfernt, während diese Stimme wartete. Sie kann gesendet werden, sobald es wieder einen gibt.',
  'The listener refused this vote.': 'Der Listener hat diese Stimme abgelehnt.',
  'It expired before it could be delivered.': 'Sie lief ab, bevor sie zugestellt werden konnte.',
  'The server was removed.': 'Der Server wurde entfernt.',
  'The listener was removed, so the vote leaves the queue.':
    'Der Listener wurde entfernt, daher verlässt die Stimme die Warteschlange.',
  'Waiting until the listener is resumed.': 'Wartet, bis der Listener fortgesetzt wird.',
  'Waiting for the listener, which is unreachable. Next test {time}.':
    'Wartet auf den Listener, der nicht erreichbar ist. Nächster Test {time}.',
  'It will be sent {time}. The number of connections per minute is limited until the listener acknowledges its first vote.':
    'Sie wird {time} gesendet. Die Zahl der Verbindungen je Minute ist begrenzt, bis der Listener seine erste Stimme bestätigt.',
  'Waiting for its next attempt, {time}.': 'Wartet auf ihren nächsten Versuch, {time}.',
  'Waiting: the operator of this listing has paused vote delivery for all servers.':
    'Wartet: Der Betreiber dieses Verzeichnisses hat die Zustellung für alle Server angehalten.',
  'Waiting in the queue.': 'Wartet in der Warteschlange.',
  'Next in the queue.': 'Als Nächste an der Reihe.',
  'Waiting in the queue, with at least {votes} votes before it.':
    'Wartet in der Warteschlange, mindestens {votes} Stimmen davor.',
  'Waiting in the queue, with {votes, plural, one {# vote} other {# votes}} before it.':
    'Wartet in der Warteschlange, {votes, plural, one {# Stimme} other {# Stimmen}} davor.',
  'Send vote': 'Stimme senden',
  'Send again': 'Noch einmal senden',
  'This vote was delivered. If you send it again, it arrives twice.':
    'Diese Stimme wurde zugestellt. Sendest du sie noch einmal, kommt sie zweimal an.',
  'A plugin claimed this vote. If you send it, its player may be rewarded twice.':
    'Ein Plugin hat diese Stimme abgeholt. Sendest du sie, wird der Spieler vielleicht zweimal belohnt.',
  'This vote may have arrived meanwhile, or a plugin claimed it. Nothing was sent.':
    'Diese Stimme ist inzwischen vielleicht angekommen, oder ein Plugin hat sie abgeholt. Es wurde nichts gesendet.',
  'This vote may have arrived. If you send it again, it may arrive twice.':
    'Diese Stimme ist vielleicht angekommen. Sendest du sie noch einmal, kommt sie vielleicht zweimal an.',
} as const satisfies Record<string, string>;
