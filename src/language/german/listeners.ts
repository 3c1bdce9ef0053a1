/** Texts about the vote listener, its test, API tokens and the connection of plugins. */
export const LISTENERS = {
  active: 'aktiv',
  unverified: 'nicht geprüft',
  paused: 'pausiert',
  unreachable: 'nicht erreichbar',
  'or more': 'oder mehr',
  'No vote listener. Votes are counted, and you can send them later.':
    'Kein Vote-Listener. Stimmen werden gezählt, und du kannst sie später senden.',
  'Last vote sent {time}, not confirmed.': 'Letzte Stimme gesendet {time}, nicht bestätigt.',
  'Last vote delivered {time}.': 'Letzte Stimme zugestellt {time}.',
  'Votes wait until you resume the listener.': 'Stimmen warten, bis du den Listener fortsetzt.',
  'Next test {time}.': 'Nächster Test {time}.',
  'It is being tested.': 'Er wird gerade getestet.',
  'Names beyond ASCII may arrive mangled: many Votifier v1 listeners take only ASCII; v2 keeps them.':
    'Namen mit Zeichen außerhalb von ASCII kommen vielleicht verstümmelt an: Viele Votifier-v1-Listener nehmen nur ASCII an; v2 erhält sie.',
  'in a few seconds': 'in wenigen Sekunden',
  'now, with one vote. When it arrives, the others follow.':
    'jetzt, mit einer Stimme. Kommt sie an, folgen die anderen.',
  'The operator of this listing has paused vote delivery for all servers.':
    'Der Betreiber dieses Verzeichnisses hat die Zustellung von Stimmen für alle Server angehalten.',
  'No votes are waiting.': 'Es warten keine Stimmen.',
  'Votes are waiting.': 'Es warten Stimmen.',
  'Vote listener: {state}.': 'Vote-Listener: {state}.',
  'test failed': 'Test fehlgeschlagen',
  'not tested': 'nicht getestet',
  'No vote has arrived with these settings yet. Send a test vote to check them.':
    'Mit diesen Einstellungen ist noch keine Stimme angekommen. Sende eine Teststimme, um sie zu prüfen.',
  'The last test vote was not confirmed: {cause} Votes are sent anyway. Send another test vote to see each step.':
    'Die letzte Teststimme wurde nicht bestätigt: {cause} Stimmen werden trotzdem gesendet. Sende noch eine Teststimme, um jeden Schritt zu sehen.',
  'The last test vote did not arrive: {cause} Votes are sent anyway. Send another test vote to see each step.':
    'Die letzte Teststimme kam nicht an: {cause} Stimmen werden trotzdem gesendet. Sende noch eine Teststimme, um jeden Schritt zu sehen.',
  'Votes waiting': 'Wartende Stimmen',
  Unconfirmed: 'Unbestätigt',
  'Sent, not confirmed': 'Gesendet, nicht bestätigt',
  'Next test': 'Nächster Test',
  '{time}, with one vote. When it arrives, the others follow.':
    '{time}, mit einer Stimme. Kommt sie an, folgen die anderen.',
  'Last delivered': 'Zuletzt zugestellt',
  'none with these settings': 'keine mit diesen Einstellungen',
  'Your website has not answered the challenge yet. Send a test vote to trigger it, or wait for the first vote.':
    'Deine Website hat die Prüfanfrage noch nicht beantwortet. Sende eine Teststimme, um sie auszulösen, oder warte auf die erste Stimme.',
  'The number of connections per minute is limited until the listener acknowledges its first vote.':
    'Die Zahl der Verbindungen je Minute ist begrenzt, bis der Listener seine erste Stimme bestätigt.',
  'not acknowledged after the last attempt. They may have arrived.':
    'nach dem letzten Versuch nicht bestätigt. Sie sind vielleicht angekommen.',
  'Last refused': 'Zuletzt abgelehnt',
  'Send again…': 'Noch einmal senden…',
  'nothing confirmed them, as with most Votifier v1 listeners. They count as delivered. If they did not reach your game:':
    'nichts hat sie bestätigt, wie bei den meisten Votifier-v1-Listenern. Sie gelten als zugestellt. Falls sie dein Spiel nicht erreicht haben:',
  Unreachable: 'Nicht erreichbar',
  'Paused because of an error': 'Wegen eines Fehlers pausiert',
  'Paused by its owner': 'Vom Besitzer pausiert',
  '{title} since {time}': '{title} seit {time}',
  'The listener’s answer: “<bdi>{words}</bdi>”': 'Antwort des Listeners: „<bdi>{words}</bdi>“',
  'The next votes are sent {time}.': 'Die nächsten Stimmen werden {time} gesendet.',
  'Votes are sent as soon as they are cast.': 'Stimmen werden gesendet, sobald sie abgegeben sind.',
  '{failures, plural, one {The last attempt} other {The last # attempts}} failed':
    '{failures, plural, one {Der letzte Versuch ist} other {Die letzten # Versuche sind}} fehlgeschlagen',
  'We retry automatically. After three failures in a row, the listener is marked unreachable.':
    'Wir versuchen es von selbst weiter. Nach drei Fehlschlägen in Folge gilt der Listener als nicht erreichbar.',
  Pause: 'Anhalten',
  Resume: 'Fortsetzen',
  'Test now': 'Jetzt testen',
  'The listener receives each vote': 'Der Listener bekommt jede Stimme',
  'A plugin asks for votes and claims them': 'Ein Plugin fragt nach Stimmen und holt sie ab',
  'This server has no vote listener: its votes can be claimed.':
    'Dieser Server hat keinen Vote-Listener: Seine Stimmen können abgeholt werden.',
  'Each vote can be rewarded twice: by the listener that receives it, and by the plugin that claims it. Choose one of them, unless only one gives rewards.':
    'Jede Stimme kann zweimal belohnt werden: vom Listener, der sie bekommt, und vom Plugin, das sie abholt. Wähle eines von beiden, außer wenn nur eines belohnt.',
  'How players are rewarded': 'Wie Spieler belohnt werden',
  'Applies to votes that are cast from now on. Votes that wait for the listener are still sent.':
    'Gilt für Stimmen, die von jetzt an abgegeben werden. Stimmen, die auf den Listener warten, werden weiter gesendet.',
  Both: 'Beide',
  set: 'gesetzt',
  'NuVotifier and most current plugins. Confirms each vote.':
    'NuVotifier und die meisten heutigen Plugins. Bestätigt jede Stimme.',
  'Older plugins, with a public key. Some confirm votes; most close without an answer.':
    'Ältere Plugins mit einem öffentlichen Schlüssel. Manche bestätigen Stimmen; die meisten schließen ohne Antwort.',
  'For games without Votifier: signed requests to your website.':
    'Für Spiele ohne Votifier: signierte Anfragen an deine Website.',
  Protocol: 'Protokoll',
  'Save settings': 'Einstellungen speichern',
  'Save vote listener': 'Vote-Listener speichern',
  Cancel: 'Abbrechen',
  'When no answer comes, send a vote': 'Kommt keine Antwort, sende eine Stimme',
  'The vote may have arrived anyway. Most plugins then reward the player again.':
    'Die Stimme ist vielleicht trotzdem angekommen. Die meisten Plugins belohnen den Spieler dann noch einmal.',
  'With “once”, it is not sent again after a server error (HTTP 5xx or 408) either.':
    'Bei „einmal“ wird sie auch nach einem Serverfehler (HTTP 5xx oder 408) nicht noch einmal gesendet.',
  once: 'einmal',
  'up to twice': 'bis zu zweimal',
  'up to three times': 'bis zu dreimal',
  'If you change the token or key, votes': 'Wenn du den Token oder Schlüssel änderst, werden Stimmen',
  'Do not send unconfirmed votes again': 'Unbestätigte Stimmen nicht noch einmal senden',
  'The listener never answered {votes}. {when} that were never answered since the last delivery are sent again.':
    'Der Listener hat {votes} nie beantwortet. {when}, die seit der letzten Zustellung nie beantwortet wurden, werden noch einmal gesendet.',
  'We send each vote to this URL as a POST request. Use https:// or http://. Redirects are not followed.':
    'Wir senden jede Stimme als POST-Anfrage an diese URL. Nutze https:// oder http://. Weiterleitungen wird nicht gefolgt.',
  'The signing secret does not change.': 'Das Geheimnis für die Signatur ändert sich nicht.',
  'We create a signing secret and show it once.':
    'Wir erzeugen ein Geheimnis für die Signatur und zeigen es einmal.',
  Host: 'Host',
  'Host name or IP address, without a port.': 'Hostname oder IP-Adresse, ohne Port.',
  'The port of the vote plugin, not of the game.': 'Der Port des Vote-Plugins, nicht der des Spiels.',
  'Service name': 'Name des Dienstes',
  'The name of this listing in your plugin. Change it only if the plugin or its rewards use another name.':
    'Der Name dieses Verzeichnisses in deinem Plugin. Ändere ihn nur, wenn das Plugin oder seine Belohnungen einen anderen nutzen.',
  'Leave empty to keep the current one.': 'Lass es leer, um den jetzigen zu behalten.',
  'Public key': 'Öffentlicher Schlüssel',
  'The full content of <code>rsa/public.key</code> in the plugin’s folder.':
    'Der ganze Inhalt von <code>rsa/public.key</code> im Ordner des Plugins.',
  Token: 'Token',
  'From the plugin’s <code>config.yml</code>, under <code>tokens</code>.':
    'Aus der <code>config.yml</code> des Plugins, unter <code>tokens</code>.',
  Never: 'Nie',
  'In 30 days': 'In 30 Tagen',
  'In 90 days': 'In 90 Tagen',
  'In a year': 'In einem Jahr',
  'The API': 'Die API',
  'A plugin that claims votes': 'Ein Plugin, das Stimmen abholt',
  'Cast and claim votes': 'Stimmen abgeben und abholen',
  'Report the status': 'Den Status melden',
  'Read votes, figures and reviews': 'Stimmen, Zahlen und Bewertungen lesen',
  'for 1 hour': '1 Stunde lang',
  'for 1 day': '1 Tag lang',
  'for 7 days': '7 Tage lang',
  'no longer': 'nicht mehr',
  'Token revoked. It stops working within 5 seconds.':
    'Token widerrufen. Es funktioniert in spätestens 5 Sekunden nicht mehr.',
  Tokens: 'Tokens',
  'Create a token': 'Token anlegen',
  'Example calls': 'Beispiele',
  'API access · {server}': 'API-Zugang · {server}',
  'Choose at least one thing that the token may do.': 'Wähle mindestens eine Sache, die das Token darf.',
  'This token is no longer valid, so it cannot be replaced.':
    'Dieses Token gilt nicht mehr und kann daher nicht ersetzt werden.',
  'This server has no token with this id.': 'Dieser Server hat kein Token mit dieser Id.',
  'This form was already sent, and its token was created and shown then. If you did not save the token, revoke it and create another one.':
    'Dieses Formular wurde schon gesendet, und sein Token wurde damals angelegt und gezeigt. Hast du das Token nicht gespeichert, widerrufe es und lege ein neues an.',
  'Your new claim key': 'Dein neuer Claim-Key',
  'Copy it now: it is shown only once. It may only check and claim votes of this server, since plugins send it in addresses.':
    'Kopiere ihn jetzt: Er wird nur einmal gezeigt. Er darf nur Stimmen dieses Servers prüfen und abholen, denn Plugins senden ihn in Adressen.',
  'the claim key': 'der Claim-Key',
  'File for VoteReward (PocketMine)': 'Datei für VoteReward (PocketMine)',
  'Save it as a file that ends with <code>.vrc</code> in the folder <code>Lists</code> of VoteReward’s data folder.':
    'Speichere sie als Datei mit der Endung <code>.vrc</code> im Ordner <code>Lists</code> des Datenordners von VoteReward.',
  'Your new token': 'Dein neues Token',
  'Copy it now: it is shown only once. Anyone who has it can do for this server what you chose.':
    'Kopiere es jetzt: Es wird nur einmal gezeigt. Wer es hat, darf für diesen Server, was du gewählt hast.',
  'the token': 'das Token',
  'the secret': 'das Geheimnis',
  'the file': 'die Datei',
  'An API token may': 'Ein API-Token darf',
  'What the token is for, such as “website”.': 'Wofür das Token ist, etwa „Website“.',
  For: 'Für',
  'A claim key may only check and claim votes; a delivery token may only fetch votes and report their results.':
    'Ein Claim-Key darf nur Stimmen prüfen und abholen, ein Zustell-Token nur Stimmen abrufen und ihr Ergebnis melden.',
  'A relay or plugin that fetches votes': 'Ein Relay oder Plugin, das Stimmen abruft',
  'Copy it now: it is shown only once. It may only fetch votes of this server and report what became of them. The relay and the two lines for it are under “Connect”.':
    'Kopiere es jetzt: Es wird nur einmal gezeigt. Es darf nur Stimmen dieses Servers abrufen und melden, was aus ihnen wurde. Das Relay und seine zwei Zeilen stehen unter „Verbinden“.',
  'claim key': 'Claim-Key',
  'only {scopes}': 'nur {scopes}',
  'delivery token': 'Zustell-Token',
  'Your new delivery token': 'Dein neues Zustell-Token',
  'the delivery token': 'das Zustell-Token',
  'My server fetches its votes': 'Mein Server ruft seine Stimmen ab',
  'Without an open port: a small program beside your server, or your own plugin, asks for votes.':
    'Ohne offenen Port: Ein kleines Programm neben deinem Server oder dein eigenes Plugin fragt nach Stimmen.',
  'fetched by the server': 'vom Server abgerufen',
  'Nothing is sent to your server: it needs neither an address nor an open port. The next page has the program and its key.':
    'An deinen Server wird nichts gesendet: Er braucht weder eine Adresse noch einen offenen Port. Die nächste Seite hat das Programm und seinen Schlüssel.',
  'Nothing was saved: a part of this listing still runs an earlier version, which does not know servers that fetch their votes. Try again when its operator has finished the upgrade.':
    'Es wurde nichts gespeichert: Ein Teil dieses Verzeichnisses läuft noch in einer früheren Version, die keine Server kennt, die ihre Stimmen abrufen. Versuche es wieder, wenn der Betreiber die Umstellung beendet hat.',
  'Nothing was saved: this listing cannot tell whether a part of it still runs an earlier version, which does not know servers that fetch their votes. Ask its operator: their log and “tallyport listener set” name what is missing.':
    'Es wurde nichts gespeichert: Dieses Verzeichnis kann nicht feststellen, ob ein Teil von ihm noch in einer früheren Version läuft, die keine Server kennt, die ihre Stimmen abrufen. Frage den Betreiber: „tallyport listener set“ nennt ihm, was fehlt.',
  'Nobody has fetched votes yet.': 'Noch niemand hat Stimmen abgerufen.',
  'Fetched {time} by <bdi>{program}</bdi>.': 'Abgerufen {time} von <bdi>{program}</bdi>.',
  'Fetched {time}.': 'Abgerufen {time}.',
  'Start the relay or your plugin: “<a>Connect</a>” has both.':
    'Starte das Relay oder dein Plugin: Beides steht unter „<a>Verbinden</a>“.',
  'Votes wait, and nobody has fetched them for over 10 minutes.':
    'Stimmen warten, und seit über 10 Minuten hat sie niemand abgerufen.',
  'Your server fetches its votes. No port needs to be open.':
    'Dein Server ruft seine Stimmen ab. Dafür muss kein Port offen sein.',
  'Your server is to fetch its votes, and has not done so yet.':
    'Dein Server soll seine Stimmen abrufen und hat es noch nicht getan.',
  'not fetched': 'nicht abgerufen',
  'not fetched yet': 'noch nicht abgerufen',
  'Last fetched': 'Zuletzt abgerufen',
  'Last test': 'Letzter Test',
  'votes were fetched': 'Stimmen wurden abgerufen',
  'votes were not fetched': 'Stimmen wurden nicht abgerufen',
  Test: 'Test',
  'Waits for the next call of the program that fetches your votes, and shows which program it is. No vote is handed out for the test.':
    'Wartet auf den nächsten Aufruf des Programms, das deine Stimmen abruft, und zeigt, welches es ist. Für den Test wird keine Stimme ausgegeben.',
  'Wait for the next call': 'Auf den nächsten Aufruf warten',
  Call: 'Aufruf',
  'Does a program ask for votes?': 'Fragt ein Programm nach Stimmen?',
  'A program asked for votes': 'Ein Programm hat nach Stimmen gefragt',
  'No program asked for votes': 'Kein Programm hat nach Stimmen gefragt',
  Program: 'Programm',
  'Relay, {time}': 'Relay, {time}',
  'Saved: your server fetches its votes. Next, set up the relay or your own plugin with the three steps below.':
    'Gespeichert: Dein Server ruft seine Stimmen ab. Richte als Nächstes mit den drei Schritten unten das Relay oder dein eigenes Plugin ein.',
  'Choose “<a>My server fetches its votes</a>” under “Vote listener”. Until then it gets none.':
    'Wähle „<a>Mein Server ruft seine Stimmen ab</a>“ unter „Vote-Listener“. Bis dahin bekommt er keine.',
  'The relay is a small program beside your game server. It fetches your votes from here and hands them to the Votifier that is installed there, so no port needs to be open. It needs only the Java of your server.':
    'Das Relay ist ein kleines Programm neben deinem Spielserver. Es ruft deine Stimmen hier ab und gibt sie an den Votifier, der dort installiert ist; es muss also kein Port offen sein. Es braucht nur das Java deines Servers.',
  '<a>Download tallyport-relay.jar</a> and put it into the folder <code>plugins</code> of your server (Bukkit, Spigot, Paper), then start the server once. On another server, put it beside the server and run <code>java -jar tallyport-relay.jar</code>.':
    '<a>Lade tallyport-relay.jar herunter</a>, lege es in den Ordner <code>plugins</code> deines Servers (Bukkit, Spigot, Paper) und starte den Server einmal. Bei einem anderen Server lege es neben den Server und führe <code>java -jar tallyport-relay.jar</code> aus.',
  'Put these two lines into <code>tallyport-relay.properties</code>, which the relay wrote: in <code>plugins/TallyportRelay</code>, or beside the jar.':
    'Trage diese zwei Zeilen in <code>tallyport-relay.properties</code> ein; das Relay hat die Datei in <code>plugins/TallyportRelay</code> oder neben dem Jar angelegt.',
  'Without an open port: the relay (Minecraft: Java Edition)':
    'Ohne offenen Port: das Relay (Minecraft: Java Edition)',
  'Your key is filled in below. Copy it now: it is shown only once.':
    'Dein Schlüssel ist unten eingesetzt. Kopiere ihn jetzt: Er wird nur einmal gezeigt.',
  'Create a key for the relay. It is shown once, filled in below.':
    'Lege einen Schlüssel für das Relay an. Er wird einmal gezeigt, unten eingesetzt.',
  'the two lines': 'die zwei Zeilen',
  'The key may only fetch votes of this server and report what became of them. It does not expire; you can revoke it under “API access”.':
    'Der Schlüssel darf nur Stimmen dieses Servers abrufen und melden, was aus ihnen wurde. Er läuft nicht ab; du kannst ihn unter „API-Zugang“ widerrufen.',
  'Create a key': 'Schlüssel anlegen',
  Expires: 'Läuft ab',
  'Replace it before then: the page of the tokens warns 30 days ahead.':
    'Ersetze es vorher: Die Seite der Tokens warnt 30 Tage vorher.',
  'Made by': 'Angelegt von',
  'over a year old, never expires': 'über ein Jahr alt, läuft nie ab',
  '{old, plural, one {# token is over a year old and never expires.} other {# tokens are over a year old and never expire.}} Replace what is in use, and revoke the rest.':
    '{old, plural, one {# Token ist} other {# Tokens sind}} über ein Jahr alt und ohne Ablauf. Ersetze, was in Gebrauch ist, und widerrufe den Rest.',
  'Create token': 'Token anlegen',
  Created: 'Angelegt',
  'Last used': 'Zuletzt benutzt',
  never: 'nie',
  'Valid tokens': 'Gültige Tokens',
  'No valid tokens. Create one below for your plugin or website.':
    'Keine gültigen Tokens. Lege unten eines für dein Plugin oder deine Website an.',
  'Revoked and expired ({invalid})': 'Widerrufen und abgelaufen ({invalid})',
  'Revoked and expired tokens': 'Widerrufene und abgelaufene Tokens',
  revoked: 'widerrufen',
  valid: 'gültig',
  expired: 'abgelaufen',
  'expires {time}': 'läuft ab {time}',
  'Keep the old token valid': 'Das alte Token gilt noch',
  'Replace token': 'Token ersetzen',
  Replace: 'Ersetzen',
  'A new token with the same name and lifetime is created and shown once. You are its maker.':
    'Ein neues Token mit demselben Namen und derselben Laufzeit wird angelegt und einmal gezeigt. Es gilt als von dir angelegt.',
  Revoke: 'Widerrufen',
  'The token stops working within 5 seconds. This cannot be undone.':
    'Das Token funktioniert in spätestens 5 Sekunden nicht mehr. Das lässt sich nicht zurücknehmen.',
  'Revoke token': 'Token widerrufen',
  'With your new token:': 'Mit deinem neuen Token:',
  'Set your token once with <code>TOKEN=tp_…</code>, then:':
    'Setze dein Token einmal mit <code>TOKEN=tp_…</code>, dann:',
  'the call: {title}': 'der Aufruf: {title}',
  'Cast a vote': 'Eine Stimme abgeben',
  'Check whether a player has voted': 'Prüfen, ob ein Spieler abgestimmt hat',
  'List votes': 'Stimmen auflisten',
  'List the top voters of this month': 'Die fleißigsten Wähler dieses Monats auflisten',
  'Get the server’s statistics': 'Die Statistik des Servers lesen',
  'List reviews': 'Bewertungen auflisten',
  'Look up the host': 'Host nachschlagen',
  'Does the host name resolve?': 'Lässt sich der Hostname auflösen?',
  'Check the address': 'Adresse prüfen',
  'Is the address on the public internet?': 'Liegt die Adresse im öffentlichen Internet?',
  'Does the port accept connections?': 'Nimmt der Port Verbindungen an?',
  Greeting: 'Begrüßung',
  'Does a vote listener answer?': 'Antwortet ein Vote-Listener?',
  'Protocol version': 'Protokollversion',
  'Does it speak the configured version?': 'Spricht er die eingestellte Version?',
  'Key or token': 'Schlüssel oder Token',
  'Does it accept the configured key or token?': 'Nimmt er den eingestellten Schlüssel oder Token an?',
  Acknowledgement: 'Bestätigung',
  'Does it accept the test vote?': 'Nimmt er die Teststimme an?',
  Encryption: 'Verschlüsselung',
  'With https://: is the certificate valid?': 'Mit https://: Ist das Zertifikat gültig?',
  'Does it accept our signature?': 'Nimmt er unsere Signatur an?',
  'hidden: the listener has not acknowledged a vote yet, so it may not be yours':
    'verborgen: Der Listener hat noch keine Stimme bestätigt, er gehört dir vielleicht nicht',
  'no answer': 'keine Antwort',
  'The test vote was sent, but not confirmed': 'Die Teststimme wurde gesendet, aber nicht bestätigt',
  'The test vote arrived': 'Die Teststimme ist angekommen',
  'The test vote got no answer that confirms it': 'Auf die Teststimme kam keine Antwort, die sie bestätigt',
  'The test vote did not arrive': 'Die Teststimme ist nicht angekommen',
  'Listener’s answer': 'Antwort des Listeners',
  Detail: 'Einzelheit',
  'Error code': 'Fehlercode',
  'not reached': 'nicht erreicht',
  passed: 'bestanden',
  'Vote listener saved. The test vote below shows whether votes arrive.':
    'Vote-Listener gespeichert. Die Teststimme unten zeigt, ob Stimmen ankommen.',
  'Vote listener saved. Waiting votes are being sent, including unconfirmed votes that failed with the earlier token or key.':
    'Vote-Listener gespeichert. Wartende Stimmen werden gesendet, auch unbestätigte, die am früheren Token oder Schlüssel scheiterten.',
  'Vote listener saved. Waiting votes are being sent. If votes marked “sent, not confirmed” did not reach your game, send them again with the link on the listener’s page.':
    'Vote-Listener gespeichert. Wartende Stimmen werden gesendet. Haben Stimmen mit dem Zustand „gesendet, nicht bestätigt“ dein Spiel nicht erreicht, sende sie mit dem Link auf der Seite des Listeners noch einmal.',
  'Listener paused. Votes are counted and wait until you resume it.':
    'Listener angehalten. Stimmen werden gezählt und warten, bis du ihn fortsetzt.',
  'Listener resumed. Waiting votes are being sent.':
    'Listener fortgesetzt. Wartende Stimmen werden gesendet.',
  'Rewards saved.': 'Belohnungen gespeichert.',
  'Listener removed. Votes are counted, but no longer forwarded.':
    'Listener entfernt. Stimmen werden gezählt, aber nicht mehr weitergeleitet.',
  'Votes are already counted. Set up a vote listener to forward them to your game.':
    'Stimmen werden schon gezählt. Richte einen Vote-Listener ein, um sie an dein Spiel weiterzuleiten.',
  Rewards: 'Belohnungen',
  'Vote listener · {server}': 'Vote-Listener · {server}',
  'The listener has changed since you opened this page, so no secret was created. If you sent the form twice, the first request created it.':
    'Der Listener hat sich geändert, seit du diese Seite geöffnet hast, daher wurde kein Geheimnis erzeugt. Hast du das Formular zweimal gesendet, hat die erste Anfrage es erzeugt.',
  'This server has no vote listener.': 'Dieser Server hat keinen Vote-Listener.',
  'The stored value cannot be read. Enter it again.':
    'Der gespeicherte Wert ist nicht lesbar. Gib ihn noch einmal ein.',
  'The stored secret cannot be read. Remove the listener and set it up again.':
    'Das gespeicherte Geheimnis ist nicht lesbar. Entferne den Listener und richte ihn neu ein.',
  'Without an answer': 'Ohne Antwort',
  'a vote is sent at most {sendings}': 'wird eine Stimme höchstens {sendings} gesendet',
  Changed: 'Geändert',
  Change: 'Ändern',
  'the listener': 'den Listener',
  'Remove listener': 'Listener entfernen',
  '{waiting, plural, one {# vote is waiting and leaves} other {# votes are waiting and leave}} the queue.':
    '{waiting, plural, one {# Stimme wartet und verlässt} other {# Stimmen warten und verlassen}} die Warteschlange.',
  'Votes are still counted, but no longer forwarded. {queued} After you set up a listener again, you can send votes for up to 30 days after they were cast.':
    'Stimmen werden weiter gezählt, aber nicht mehr weitergeleitet. {queued} Hast du wieder einen Listener eingerichtet, kannst du Stimmen bis 30 Tage nach ihrer Abgabe senden.',
  'New secret': 'Neues Geheimnis',
  'A new secret is created and shown once. For 24 hours, votes are signed with both the old and the new secret, so that you can switch without losing votes. Any older secret stops working at once.':
    'Ein neues Geheimnis wird erzeugt und einmal gezeigt. 24 Stunden lang werden Stimmen mit dem alten und dem neuen signiert, damit du ohne Verlust wechseln kannst. Jedes noch ältere gilt sofort nicht mehr.',
  'Create new secret': 'Neues Geheimnis erzeugen',
  'Your signing secret': 'Dein Geheimnis für die Signatur',
  'Copy it now: it is shown only once. Your website uses it to verify that votes come from this listing.':
    'Kopiere es jetzt: Es wird nur einmal gezeigt. Deine Website prüft damit, dass Stimmen von diesem Verzeichnis kommen.',
  'Votes are also signed with the old secret until {time}.':
    'Bis {time} werden Stimmen auch mit dem alten Geheimnis signiert.',
  'How to receive and verify votes': 'So empfängst und prüfst du Stimmen',
  'Each vote is a <code>POST</code> with this JSON:':
    'Jede Stimme ist ein <code>POST</code> mit diesem JSON:',
  'an example message': 'eine Beispielnachricht',
  'It is signed according to <a>Standard Webhooks</a>, which has libraries for a dozen languages. In JavaScript:':
    'Sie ist nach <a>Standard Webhooks</a> signiert; dafür gibt es Bibliotheken in einem Dutzend Sprachen. In JavaScript:',
  'the verification in JavaScript': 'die Prüfung in JavaScript',
  'Before the first vote, and from time to time, we send a <code>listener.challenge</code> message. Answer with its challenge, as above, to show that your website accepts votes. Otherwise no votes are sent.':
    'Vor der ersten Stimme und von Zeit zu Zeit senden wir eine Nachricht <code>listener.challenge</code>. Antworte wie oben mit ihrer Challenge, um zu zeigen, dass deine Website Stimmen annimmt. Sonst werden keine gesendet.',
  'Answer with any 2xx status. If your answer gets lost, the vote is sent again with the same <code>webhook-id</code>, which is the <code>vote_id</code>. Store the ids of rewarded votes to avoid duplicates.':
    'Antworte mit einem Status 2xx. Geht deine Antwort verloren, wird die Stimme mit derselben <code>webhook-id</code> noch einmal gesendet; das ist die <code>vote_id</code>. Speichere die Ids belohnter Stimmen, um nichts doppelt zu belohnen.',
  'Test vote': 'Teststimme',
  'Sends a marked vote of the player “{player}” and shows each step. It is not counted.':
    'Sendet eine gekennzeichnete Stimme des Spielers „{player}“ und zeigt jeden Schritt. Sie wird nicht gezählt.',
  'It is sent even though the listener is {state}.': 'Sie wird gesendet, obwohl der Listener {state} ist.',
  'Send test vote': 'Teststimme senden',
  'Test in progress. It takes up to a minute if the listener does not answer.':
    'Der Test läuft. Er dauert bis zu einer Minute, wenn der Listener nicht antwortet.',
  'Test vote · {name}': 'Teststimme · {name}',
  'Send another test vote': 'Noch eine Teststimme senden',
  'Open settings': 'Einstellungen öffnen',
  'Back to vote listener': 'Zurück zum Vote-Listener',
  'This listing is restarting. Try again in a minute.':
    'Dieses Verzeichnis startet neu. Versuche es in einer Minute noch einmal.',
  'No worker is running, so nothing was checked or sent. Try again later, or ask the operator of this listing.':
    'Es läuft kein Worker, darum wurde nichts geprüft oder gesendet. Versuche es später noch einmal, oder frage den Betreiber dieses Verzeichnisses.',
  'All workers are busy, so nothing was checked or sent. Try again in a minute.':
    'Alle Worker sind beschäftigt, darum wurde nichts geprüft oder gesendet. Versuche es in einer Minute noch einmal.',
  'The queue of this listing does not answer, so there is no result. Try again in a minute.':
    'Die Warteschlange dieses Verzeichnisses antwortet nicht, darum gibt es kein Ergebnis. Versuche es in einer Minute noch einmal.',
  'The worker stopped before there was a result. Try again in a minute.':
    'Der Worker wurde beendet, bevor es ein Ergebnis gab. Versuche es in einer Minute noch einmal.',
  'The stored token, key or secret cannot be read. Enter it again under “Change”.':
    'Das gespeicherte Token, der Schlüssel oder das Geheimnis ist nicht lesbar. Gib es unter „Ändern“ noch einmal ein.',
  'Something went wrong on our side. We have logged the error. Try again in a minute.':
    'Bei uns ist etwas schiefgegangen. Wir haben den Fehler protokolliert. Versuche es in einer Minute noch einmal.',
  'Verify that you own the server before you send test votes.':
    'Weise nach, dass dir der Server gehört, bevor du Teststimmen sendest.',
  'This server no longer has a vote listener. Set one up first.':
    'Dieser Server hat keinen Vote-Listener mehr. Richte zuerst einen ein.',
  'We do not connect to ports of mail servers or remote shells. Enter the port of the vote plugin, usually 8192.':
    'Mit Ports von Mailservern oder Fernzugängen verbinden wir uns nicht. Gib den Port des Vote-Plugins ein, meist 8192.',
  'You can send {times} test votes a minute. Changing the listener’s settings and resuming it count too.':
    'Du kannst {times} Teststimmen in der Minute senden. Änderungen der Einstellungen und das Fortsetzen des Listeners zählen mit.',
  'VotingPlugin with NuVotifier (Minecraft: Java Edition)':
    'VotingPlugin mit NuVotifier (Minecraft: Java Edition)',
  'Add this to VoteSites.yml of VotingPlugin. NuVotifier receives the votes: enter its host, port and token under “Vote listener”.':
    'Füge dies in die VoteSites.yml von VotingPlugin ein. NuVotifier empfängt die Stimmen: Gib seinen Host, Port und Token unter „Vote-Listener“ ein.',
  'EasyVote (Rust: Oxide, Carbon)': 'EasyVote (Rust: Oxide, Carbon)',
  'Add these entries to the two sections of the same names in EasyVote’s configuration. Players vote with their SteamID64 as their name.':
    'Füge diese Einträge in die beiden gleichnamigen Abschnitte der Konfiguration von EasyVote ein. Spieler stimmen mit ihrer SteamID64 als Namen ab.',
  'VoteReward (PocketMine)': 'VoteReward (PocketMine)',
  'Save this as a file that ends with .vrc in the folder Lists of VoteReward’s data folder (plugin_data/VoteReward/Lists).':
    'Speichere dies als Datei mit der Endung .vrc im Ordner Lists des Datenordners von VoteReward (plugin_data/VoteReward/Lists).',
  'Any plugin that can read a web address': 'Jedes Plugin, das eine Webadresse lesen kann',
  'The first address answers 0 (no vote in 24 hours), 1 (voted, not claimed) or 2 (claimed). The second one claims the vote: 1 means “reward the player now”.':
    'Die erste Adresse antwortet 0 (keine Stimme in 24 Stunden), 1 (abgestimmt, nicht abgeholt) oder 2 (abgeholt). Die zweite holt die Stimme ab: 1 heißt „belohne den Spieler jetzt“.',
  'Your own web service (signed HTTP request)': 'Dein eigener Webdienst (signierte HTTP-Anfrage)',
  'Under “Vote listener” choose HTTP and enter the address of your service. Each vote arrives as a POST request, signed as Standard Webhooks describes; the secret is shown once. The TypeScript client verifies the signature.':
    'Wähle unter „Vote-Listener“ HTTP und gib die Adresse deines Dienstes ein. Jede Stimme kommt als POST-Anfrage, signiert wie Standard Webhooks es beschreibt; das Geheimnis wird einmal gezeigt. Der TypeScript-Client prüft die Signatur.',
  'The plugin is answered that claims are off: under “Vote listener” you chose that only the listener rewards votes.':
    'Das Plugin bekommt zur Antwort, dass das Abholen aus ist: Unter „Vote-Listener“ hast du gewählt, dass nur der Listener Stimmen belohnt.',
  'The plugin is answered 0: this player has no vote of the last 24 hours that counts.':
    'Das Plugin bekommt die Antwort 0: Dieser Spieler hat keine zählende Stimme der letzten 24 Stunden.',
  'The plugin is answered 1: this player voted, and the vote is not claimed yet.':
    'Das Plugin bekommt die Antwort 1: Dieser Spieler hat abgestimmt, und die Stimme ist noch nicht abgeholt.',
  'The plugin is answered 2: this player voted, and the vote was rewarded.':
    'Das Plugin bekommt die Antwort 2: Dieser Spieler hat abgestimmt, und die Stimme wurde belohnt.',
  'Connect your plugin · {server}': 'Dein Plugin verbinden · {server}',
  'Vote plugin, {time}': 'Vote-Plugin, {time}',
  'This form was already sent, and its key was shown then. Revoke the key under “API access” and create another one.':
    'Dieses Formular wurde schon gesendet, und sein Schlüssel wurde damals gezeigt. Widerrufe den Schlüssel unter „API-Zugang“ und lege einen neuen an.',
  '<bdi>{username}</bdi>: {kind} Nothing was claimed.':
    '<bdi>{username}</bdi>: {kind} Es wurde nichts abgeholt.',
  'Two ways to reward players': 'Zwei Wege, Spieler zu belohnen',
  '<strong>Pushed:</strong> the listing sends each vote to the vote listener of your server, or your server fetches it. <strong>Claimed:</strong> your plugin asks the listing whether a player voted, and claims the vote with a claim key. Choose one of them, or each vote is rewarded twice.':
    '<strong>Senden:</strong> Das Verzeichnis sendet jede Stimme an den Vote-Listener deines Servers, oder dein Server ruft sie ab. <strong>Abholen:</strong> Dein Plugin fragt das Verzeichnis, ob ein Spieler abgestimmt hat, und holt die Stimme mit einem Claim-Key ab. Wähle eines von beiden, sonst wird jede Stimme zweimal belohnt.',
  'Other plugins ({others})': 'Andere Plugins ({others})',
  'Create a claim key': 'Claim-Key anlegen',
  'The key is shown once, filled in below. You can revoke it under “API access”.':
    'Der Schlüssel wird einmal gezeigt, unten eingesetzt. Du kannst ihn unter „API-Zugang“ widerrufen.',
  'Your claim key is filled in below. Copy what you need now: it is shown only once. It may only check and claim votes. The tests are on this page when you open it again.':
    'Dein Claim-Key ist unten eingesetzt. Kopiere jetzt, was du brauchst: Er wird nur einmal gezeigt. Er darf nur Stimmen prüfen und abholen. Die Tests stehen auf dieser Seite, wenn du sie wieder öffnest.',
  'the configuration: {title}': 'die Konfiguration: {title}',
  'Test it now': 'Jetzt testen',
  'with a marked test vote': 'mit einer gekennzeichneten Teststimme',
  'Test it now: what is the plugin answered about this player?':
    'Jetzt testen: Was bekommt das Plugin zu diesem Spieler zur Antwort?',
  'Ask as the plugin': 'Wie das Plugin fragen',
} as const satisfies Record<string, string>;
