/** Texts for the answers of vote listeners, the advice after them, and the events of a vote. */
export const OUTCOMES = {
  'the vote': 'die Stimme',
  'its schedule': 'ihren Zeitplan',
  'the refused challenge': 'die abgelehnte Challenge',
  'the attempt that was given back': 'den zurückgegebenen Versuch',
  'the resend': 'das erneute Senden',
  'the lifted quarantine': 'die aufgehobene Quarantäne',
  'the listener’s test': 'den Test des Listeners',
  'the server’s return': 'die Rückkehr des Servers',
  'the listener’s return': 'die Rückkehr des Listeners',
  'the resume': 'das Fortsetzen',
  'the changed settings': 'die geänderten Einstellungen',
  '{cause}, found by the sweep': '{cause}, gefunden vom Suchlauf',
  'the sweep': 'den Suchlauf',
  accepted: 'angenommen',
  'cast elsewhere': 'anderswo abgegeben',
  'the player may vote again, by an operator': 'der Spieler darf wieder abstimmen, durch einen Betreiber',
  'given up: not delivered in time': 'aufgegeben: nicht rechtzeitig zugestellt',
  'removed from the queue: the listener was removed':
    'aus der Warteschlange genommen: der Listener wurde entfernt',
  'failed: the server was removed': 'fehlgeschlagen: der Server wurde entfernt',
  'the acknowledgement came late': 'die Bestätigung kam spät',
  'the acknowledgement of attempt {number} came late': 'die Bestätigung von Versuch {number} kam spät',
  'resent by {by}': 'noch einmal gesendet ({by})',
  resent: 'noch einmal gesendet',
  'it may arrive twice': 'sie kommt vielleicht zweimal an',
  'quarantined: it looks unusual': 'zurückgehalten: sie ist auffällig',
  'excluded by {by}': 'ausgeschlossen ({by})',
  'quarantined: “{reason}”': 'zurückgehalten: „{reason}“',
  'claimed by a plugin (token {token})': 'von einem Plugin abgeholt (Token {token})',
  'restored from a backup: what happened to it since is not known':
    'aus einer Sicherung wiederhergestellt: was seither mit ihr geschah, ist nicht bekannt',
  'quarantine lifted by an operator': 'Quarantäne von einem Betreiber aufgehoben',
  'excluded by {by}: “{reason}”': 'ausgeschlossen ({by}): „{reason}“',
  'Check the spelling of the host and its DNS records, or set the listener to its IP address.':
    'Prüfe die Schreibweise des Hosts und seine DNS-Einträge, oder stelle den Listener auf seine IP-Adresse.',
  'A website answers here, not a vote listener.': 'Hier antwortet eine Website, kein Vote-Listener.',
  'Set the port from the vote plugin’s configuration, usually 8192; if it is this one, another program has taken it, and the plugin’s log says “not able to bind”.':
    'Stelle den Port aus der Konfiguration des Vote-Plugins ein, meist 8192; ist es dieser, hat ihn ein anderes Programm belegt, und das Log des Plugins meldet, dass es ihn nicht öffnen konnte.',
  'This is the port that players join on, not the one of the vote plugin.':
    'Das ist der Port, über den Spieler beitreten, nicht der des Vote-Plugins.',
  'Something here speaks TLS, which no Votifier does: a website, or a proxy with a certificate.':
    'Hier spricht etwas TLS, was kein Votifier tut: eine Website oder ein Proxy mit Zertifikat.',
  'Set the port from the vote plugin’s configuration, usually 8192, without a proxy in front of it.':
    'Stelle den Port aus der Konfiguration des Vote-Plugins ein, meist 8192, ohne Proxy davor.',
  'A proxy in front of the listener speaks the PROXY protocol, which voting sites do not.':
    'Ein Proxy vor dem Listener spricht das PROXY-Protokoll, das Vote-Seiten nicht sprechen.',
  'Switch the PROXY protocol off for the vote port (in the plugin, HAProxy or the DDoS protection), or set the port behind it.':
    'Schalte das PROXY-Protokoll für den Vote-Port ab (im Plugin, in HAProxy oder im DDoS-Schutz), oder stelle den Port dahinter ein.',
  'Copy the token for our service name, or for “default” if it has none of its own, from the vote plugin’s configuration once more and set the listener again with it; add one if there is neither, and after any change there, also an earlier one, restart the game server or reload the plugin.':
    'Kopiere das Token für unseren Dienstnamen, oder das für „default“, wenn er kein eigenes hat, noch einmal aus der Konfiguration des Vote-Plugins, und stelle den Listener damit neu ein; gibt es keines von beiden, füge eines hinzu, und nach jeder Änderung dort, auch einer früheren, starte den Spielserver neu oder lade das Plugin neu.',
  'Set the port from the vote plugin’s configuration, usually 8192.':
    'Stelle den Port aus der Konfiguration des Vote-Plugins ein, meist 8192.',
  'There is nothing to do; if the game does not show the vote, look at the plugin that takes it, or at the server behind the proxy.':
    'Es ist nichts zu tun; zeigt das Spiel die Stimme nicht, sieh bei dem Plugin nach, das sie nimmt, oder bei dem Server hinter dem Proxy.',
  'The listener took the vote and said so, but its name has over 16 characters, to which some listeners cut it (VotifierPlus, Votifier 1.9).':
    'Der Listener hat die Stimme angenommen und es gesagt, aber ihr Name hat über 16 Zeichen, auf die ihn manche kürzen (VotifierPlus, Votifier 1.9).',
  'If the player gets no reward, let them vote with the name that they have in the game.':
    'Bekommt der Spieler keine Belohnung, lass ihn mit dem Namen abstimmen, den er im Spiel hat.',
  'The vote was sent, and the listener kept the connection open without an answer: a plugin that takes votes is slow or hangs, the server is overloaded, a filter drops the vote or the answer, or its key has changed; it may have arrived all the same.':
    'Die Stimme wurde gesendet, und der Listener hielt die Verbindung ohne Antwort offen: Ein Plugin, das Stimmen annimmt, ist langsam oder hängt, der Server ist überlastet, ein Filter verwirft die Stimme oder die Antwort, oder sein Schlüssel ist ein anderer; sie ist vielleicht trotzdem angekommen.',
  'Look in the game server’s log for a plugin that takes votes and is slow or hangs, and check the server’s load and the filters before it; if there is nothing, compare the public key with the plugin’s own (rsa/public.key).':
    'Suche im Log des Spielservers nach einem Plugin, das Stimmen annimmt und langsam ist oder hängt, und prüfe die Last des Servers und die Filter davor; ist dort nichts, vergleiche den öffentlichen Schlüssel mit dem des Plugins (rsa/public.key).',
  'Nothing answered at the listener’s address and port, which has taken votes before: the game server hangs or is overloaded, or its machine is off; more rarely a firewall drops the connection.':
    'Unter der Adresse und dem Port des Listeners, der schon Stimmen angenommen hat, antwortet nichts: Der Spielserver hängt oder ist überlastet, oder seine Maschine ist aus; seltener verwirft eine Firewall die Verbindung.',
  'Check the game server’s load, and its log for a hang, and restart it if it hangs; then check the firewall and the hosting panel.':
    'Prüfe die Last des Spielservers und sein Log; hängt er, starte ihn neu; prüfe danach die Firewall und das Panel deines Hosters.',
  'The website refused the challenge with HTTP {status}; no vote was posted.':
    'Die Website hat die Challenge mit HTTP {status} abgelehnt; es wurde keine Stimme gesendet.',
  'The website refused the challenge; no vote was posted.':
    'Die Website hat die Challenge abgelehnt; es wurde keine Stimme gesendet.',
  'Let the program that takes the votes accept a message of the type listener.challenge and answer it with its challenge, as the example on the listener’s page shows; look into the website’s log for the reason of its status.':
    'Lass das Programm, das die Stimmen annimmt, eine Nachricht vom Typ listener.challenge annehmen und mit ihrer Challenge beantworten, wie das Beispiel auf der Seite des Listeners zeigt; sieh im Log der Website nach dem Grund ihres Status.',
  'The website answered the challenge and refused this player, “TallyportTest” (HTTP 422), mostly because it does not know the name.':
    'Die Website hat die Challenge beantwortet und diesen Spieler, „TallyportTest“, abgelehnt (HTTP 422), meist weil sie den Namen nicht kennt.',
  'Let the website take the player TallyportTest, or wait for a real vote; if that is refused too, look into the website’s log; resume the listener if it is paused.':
    'Lass die Website den Spieler TallyportTest annehmen, oder warte auf eine echte Stimme; wird auch sie abgelehnt, sieh in das Log der Website; setze den Listener fort, wenn er pausiert.',
  'The listener has taken no vote with its current settings, and kept the connection of the last one open without an answer: a plugin that takes votes is slow or hangs, the server is overloaded, or a filter drops the vote or the answer; other votes wait.':
    'Der Listener hat mit seinen jetzigen Einstellungen keine Stimme angenommen und die Verbindung der letzten ohne Antwort offen gehalten: Ein Plugin, das Stimmen annimmt, ist langsam oder hängt, der Server ist überlastet, oder ein Filter verwirft die Stimme oder die Antwort; andere Stimmen warten.',
  'Look in the game server’s log for a plugin that takes votes and is slow or hangs, check the server’s load and the filters before it, and resume the listener; if there is nothing, compare the public key with the plugin’s own (rsa/public.key).':
    'Suche im Log des Spielservers nach einem Plugin, das Stimmen annimmt und langsam ist oder hängt, prüfe die Last des Servers und die Filter davor, und setze den Listener fort; ist dort nichts, vergleiche den öffentlichen Schlüssel mit dem des Plugins (rsa/public.key).',
  'Nothing answered at the website’s address and port, which has taken votes before: the website hangs or is overloaded, or its machine is off; more rarely a firewall drops the connection.':
    'Unter der Adresse und dem Port der Website, die schon Stimmen angenommen hat, antwortet nichts: Die Website hängt oder ist überlastet, oder ihre Maschine ist aus; seltener verwirft eine Firewall die Verbindung.',
  'Check the website’s load and log, and restart it if it hangs; then check the firewall and its hosting provider.':
    'Prüfe die Last und das Log der Website; hängt sie, starte sie neu; prüfe danach die Firewall und ihren Hoster.',
  'The machine answers, but nothing listens any more on the port in the URL, or a firewall rejects the connection.':
    'Die Maschine antwortet, aber am Port in der URL lauscht nichts mehr, oder eine Firewall weist die Verbindung ab.',
  'Check that the website runs, and that no firewall rejects connections to it.':
    'Prüfe, ob die Website läuft und keine Firewall Verbindungen zu ihr abweist.',
  'The vote was sent, and nothing confirms it; its name has over 16 characters, to which some listeners cut it (VotifierPlus, Votifier 1.9).':
    'Die Stimme wurde gesendet, und nichts bestätigt sie; ihr Name hat über 16 Zeichen, auf die ihn manche Listener kürzen (VotifierPlus, Votifier 1.9).',
  'There is nothing to do.': 'Es ist nichts zu tun.',
  'The listener took the vote and said so.': 'Der Listener hat die Stimme angenommen und es gesagt.',
  'The vote was sent, and the listener closed the connection without an error; many Votifier v1 listeners say no more than that, even when the key is wrong, a plugin that takes votes fails, or a proxy puts a PROXY header before the vote.':
    'Die Stimme wurde gesendet, und der Listener hat die Verbindung ohne Fehler geschlossen; viele Votifier-v1-Listener sagen nicht mehr, auch wenn der Schlüssel falsch ist, ein Plugin scheitert, das Stimmen annimmt, oder ein Proxy einen PROXY-Kopf vor die Stimme setzt.',
  'If votes do not arrive in the game, compare the public key with the plugin’s own (restart the game server if it is the same), look for an error in the game server’s log, see that the plugin takes v1 and that no proxy sends the PROXY protocol, or change to Votifier v2, which can confirm.':
    'Kommen Stimmen im Spiel nicht an, vergleiche den öffentlichen Schlüssel mit dem des Plugins (ist es derselbe, starte den Spielserver neu), suche im Log des Spielservers nach einem Fehler, sieh nach, ob das Plugin v1 annimmt und kein Proxy das PROXY-Protokoll sendet, oder wechsle zu Votifier v2, das bestätigen kann.',
  'The listener’s host name has no address.': 'Der Hostname des Listeners hat keine Adresse.',
  'The name servers of the listener’s host gave no answer in time.':
    'Die Nameserver des Hosts gaben nicht rechtzeitig Antwort.',
  'Check that the domain’s name servers work, or set the listener to its IP address.':
    'Prüfe, ob die Nameserver der Domain funktionieren, oder stelle den Listener auf seine IP-Adresse.',
  'The machine answers, but nothing listens at this address and port, or a firewall rejects the connection.':
    'Die Maschine antwortet, aber unter dieser Adresse und diesem Port lauscht nichts, oder eine Firewall weist die Verbindung ab.',
  'Check that the game server runs, that its log does not say “not able to bind”, that the vote plugin listens at 0.0.0.0 on this port (usually 8192, not the game’s), and that no firewall rejects connections to it.':
    'Prüfe, ob der Spielserver läuft, ob sein Log meldet, dass das Vote-Plugin den Port nicht öffnen konnte, ob das Plugin unter 0.0.0.0 an diesem Port lauscht (meist 8192, nicht der des Spiels), und ob keine Firewall Verbindungen dorthin abweist.',
  'A firewall rejects connections to the listener’s port.':
    'Eine Firewall weist Verbindungen zum Port des Listeners ab.',
  'Allow the listener’s port in the firewall of the game server’s machine and in the hosting panel, and check the address.':
    'Erlaube den Port des Listeners in der Firewall der Maschine und im Panel deines Hosters, und prüfe die Adresse.',
  'There is no way through the network to the listener’s address.':
    'Durch das Netz führt kein Weg zur Adresse des Listeners.',
  'Check the address, that the machine is running, and that its network can be reached from the internet.':
    'Prüfe die Adresse, ob die Maschine läuft und ob ihr Netz aus dem Internet erreichbar ist.',
  'Nothing answered at the listener’s address and port; mostly a firewall drops the connection.':
    'Unter der Adresse und dem Port des Listeners antwortet nichts; meist verwirft eine Firewall die Verbindung.',
  'Open the listener’s port in the firewall and in the hosting panel, forward it in the router, and check the address.':
    'Öffne den Port des Listeners in der Firewall und im Panel deines Hosters, leite ihn im Router weiter, und prüfe die Adresse.',
  'Something took the connection and then said nothing, though a Votifier listener speaks first: it is another service, the vote plugin hangs, or a filter holds the connection back.':
    'Etwas hat die Verbindung angenommen und dann nichts gesagt, obwohl ein Votifier-Listener zuerst spricht: Es ist ein anderer Dienst, das Vote-Plugin hängt, oder ein Filter hält die Verbindung auf.',
  'Check that the port is the vote plugin’s, not the game’s, look in the game server’s log whether the plugin hangs, and let no proxy or DDoS filter be in front of it.':
    'Prüfe, ob der Port der des Vote-Plugins ist, nicht der des Spiels, sieh im Log des Spielservers nach, ob das Plugin hängt, und lass keinen Proxy oder DDoS-Filter davor.',
  'The connection was closed before the listener greeted: mostly it is the port of a container or tunnel with nothing behind it, or a filter or limit ends it.':
    'Die Verbindung wurde geschlossen, bevor der Listener grüßte: Meist ist es der Port eines Containers oder Tunnels, hinter dem nichts lauscht, oder ein Filter oder Limit beendet sie.',
  'Check that the game server runs with its vote plugin, that the container or tunnel leads to the plugin’s port, and that no proxy, DDoS filter or address limit ends connections to it.':
    'Prüfe, ob der Spielserver mit seinem Vote-Plugin läuft, ob der Container oder Tunnel zum Port des Plugins führt, und ob kein Proxy, DDoS-Filter oder Adresslimit Verbindungen dorthin beendet.',
  'The listener greeted and then closed the connection before the vote was sent.':
    'Der Listener hat gegrüßt und dann die Verbindung geschlossen, bevor die Stimme gesendet war.',
  'Look for an error of the vote plugin in the game server’s log.':
    'Suche im Log des Spielservers nach einem Fehler des Vote-Plugins.',
  'The listener’s greeting began, but did not end in time.':
    'Die Begrüßung des Listeners begann, endete aber nicht rechtzeitig.',
  'Check the load of the game server and of its network.':
    'Prüfe die Last des Spielservers und seines Netzes.',
  'The listener answered with an error of its own.': 'Der Listener hat mit einem eigenen Fehler geantwortet.',
  'Look for the listener’s words in the game server’s log: mostly the vote plugin, or one that takes its votes, has failed.':
    'Suche die Worte des Listeners im Log des Spielservers: Meist ist das Vote-Plugin gescheitert, oder eines, das seine Stimmen nimmt.',
  'The listener did not accept the answer to its own challenge.':
    'Der Listener hat die Antwort auf seine eigene Challenge nicht angenommen.',
  'Check that no proxy mixes up the connections to the vote port; update the vote plugin if the error continues.':
    'Prüfe, ob kein Proxy die Verbindungen zum Vote-Port vertauscht; aktualisiere das Vote-Plugin, wenn der Fehler bleibt.',
  'The website answered that it cannot take votes now (HTTP 5xx or 408); the vote may have arrived all the same.':
    'Die Website hat geantwortet, dass sie jetzt keine Stimmen annehmen kann (HTTP 5xx oder 408); die Stimme ist vielleicht trotzdem angekommen.',
  'Look into the log of the website or application that takes the votes.':
    'Sieh in das Log der Website oder Anwendung, die die Stimmen annimmt.',
  'The website answered a challenge that it cannot take votes now (HTTP 5xx or 408), or did not answer it; it has not taken the vote.':
    'Die Website hat auf die Challenge geantwortet, dass sie jetzt keine Stimmen annehmen kann (HTTP 5xx oder 408); es wurde keine Stimme gesendet.',
  'The vote was sent, and the listener closed the connection without an answer, as some listeners do on a wrong token or without one for our service name, when a plugin that takes votes fails, at a limit of the plugin or of a filter, or behind a proxy that puts a PROXY header before the vote; it may have arrived all the same.':
    'Die Stimme wurde gesendet, und der Listener hat die Verbindung ohne Antwort geschlossen, wie es manche bei einem falschen Token tun oder ohne eines für unseren Dienstnamen, wenn ein Plugin scheitert, das Stimmen annimmt, bei einem Limit des Plugins oder eines Filters, oder hinter einem Proxy, der einen PROXY-Kopf vor die Stimme setzt; sie ist vielleicht trotzdem angekommen.',
  'Look for an error in the game server’s log first; if there is none, set the listener again with the token for our service name or “default”, add one if there is neither, and restart the game server; then check limits, filters, another vote plugin on the port, and the PROXY protocol.':
    'Suche zuerst im Log des Spielservers nach einem Fehler; ist dort keiner, stelle den Listener mit dem Token für unseren Dienstnamen oder „default“ neu ein, füge eines hinzu, wenn es keines von beiden gibt, und starte den Spielserver neu; prüfe dann Limits, Filter, ein anderes Vote-Plugin am Port und das PROXY-Protokoll.',
  'The vote was sent, and the connection broke before an answer came, so the vote may have arrived.':
    'Die Stimme wurde gesendet, und die Verbindung brach ab, bevor eine Antwort kam; die Stimme ist also vielleicht angekommen.',
  'Check that the game server did not stop at that moment and that no proxy or filter cuts connections to the vote port.':
    'Prüfe, ob der Spielserver in diesem Moment nicht stoppte und ob kein Proxy oder Filter Verbindungen zum Vote-Port kappt.',
  'The vote was sent, and no answer came in time, as when a plugin that takes votes hangs or is slow, or a filter drops the vote or the answer, so the vote may have arrived.':
    'Die Stimme wurde gesendet, und es kam nicht rechtzeitig eine Antwort, wie wenn ein Plugin, das Stimmen annimmt, hängt oder langsam ist, oder ein Filter die Stimme oder die Antwort verwirft; die Stimme ist also vielleicht angekommen.',
  'Look in the game server’s log for an error of the vote plugin, or for a plugin that takes its votes and hangs or is slow, check the server’s load, and let no filter hold back what is sent or answered.':
    'Suche im Log des Spielservers nach einem Fehler des Vote-Plugins oder nach einem Plugin, das dessen Stimmen annimmt und hängt oder langsam ist, prüfe die Last des Servers, und lass keinen Filter zurückhalten, was gesendet oder geantwortet wird.',
  'The vote was sent, and the answer is not a Votifier answer, so the vote may have arrived.':
    'Die Stimme wurde gesendet, und die Antwort ist keine Votifier-Antwort; die Stimme ist also vielleicht angekommen.',
  'Check that the port is the vote plugin’s and that no proxy answers in its place; then update the vote plugin.':
    'Prüfe, ob der Port der des Vote-Plugins ist und ob kein Proxy an seiner Stelle antwortet; aktualisiere dann das Vote-Plugin.',
  'Tallyport lost the process that was sending this vote, so the vote may have arrived.':
    'Tallyport hat den Prozess verloren, der diese Stimme sendete; die Stimme ist also vielleicht angekommen.',
  'There is nothing to do: the vote is retried automatically.':
    'Es ist nichts zu tun: Die Stimme wird von selbst noch einmal versucht.',
  'Tallyport was stopped while it waited for the listener’s answer, so the vote may have arrived.':
    'Tallyport wurde beendet, während es auf die Antwort des Listeners wartete; die Stimme ist also vielleicht angekommen.',
  'The listener refused the signature: its token for our service name is different, or it has none for it.':
    'Der Listener hat die Signatur abgelehnt: Sein Token für unseren Dienstnamen ist ein anderes, oder er hat keines für ihn.',
  'The listener has no token for our service name.':
    'Der Listener hat kein Token für unseren Namen des Dienstes.',
  'Add a token for our service name, or one for “default”, to the vote plugin’s configuration, restart the game server or reload the plugin, and set the token here.':
    'Füge in der Konfiguration des Vote-Plugins ein Token für unseren Dienstnamen oder für „default“ hinzu, starte den Spielserver neu oder lade das Plugin neu, und stelle das Token hier ein.',
  'The listener refused the signature: its token for our service name “{service}” is different, or it has none for it.':
    'Der Listener hat die Signatur abgelehnt: Sein Token für unseren Dienstnamen „{service}“ ist ein anderes, oder er hat keines für ihn.',
  'Copy the token for our service name “{service}”, or for “default” if it has none of its own, from the vote plugin’s configuration once more and set the listener again with it; add one if there is neither, and after any change there, also an earlier one, restart the game server or reload the plugin.':
    'Kopiere das Token für unseren Dienstnamen „{service}“, oder das für „default“, wenn er kein eigenes hat, noch einmal aus der Konfiguration des Vote-Plugins, und stelle den Listener damit neu ein; gibt es keines von beiden, füge eines hinzu, und nach jeder Änderung dort, auch einer früheren, starte den Spielserver neu oder lade das Plugin neu.',
  'The listener has no token for our service name “{service}”.':
    'Der Listener hat kein Token für unseren Dienstnamen „{service}“.',
  'Add a token for our service name “{service}”, or one for “default”, to the vote plugin’s configuration, restart the game server or reload the plugin, and set the token here.':
    'Füge in der Konfiguration des Vote-Plugins ein Token für unseren Dienstnamen „{service}“ oder für „default“ hinzu, starte den Spielserver neu oder lade das Plugin neu, und stelle das Token hier ein.',
  'The listener could not decrypt the vote: its key is different.':
    'Der Listener konnte die Stimme nicht entschlüsseln: Sein Schlüssel ist ein anderer.',
  'Copy the public key from the vote plugin’s folder once more (rsa/public.key) and set the listener again with it; if it is the same already, restart the game server or reload the plugin, which may still use an earlier one.':
    'Kopiere den öffentlichen Schlüssel noch einmal aus dem Ordner des Vote-Plugins (rsa/public.key), und stelle den Listener damit neu ein; ist es schon derselbe, starte den Spielserver oder lade das Plugin neu, das vielleicht noch einen früheren benutzt.',
  'Something other than a Votifier listener answers at this address and port.':
    'Unter dieser Adresse und diesem Port antwortet etwas anderes als ein Votifier-Listener.',
  'Set the port of the vote plugin (usually 8192), not the game’s or a website’s, and let no proxy speak before the listener; if it is the plugin’s port, another program has taken it, and the plugin’s log says “not able to bind”.':
    'Stelle den Port des Vote-Plugins ein (meist 8192), nicht den des Spiels oder einer Website, und lass keinen Proxy vor dem Listener sprechen; ist es der Port des Plugins, hat ihn ein anderes Programm belegt, und das Log des Plugins meldet, dass es ihn nicht öffnen konnte.',
  'The listener speaks Votifier v1 only, and a v2 token is set.':
    'Der Listener spricht nur Votifier v1, und ein v2-Token ist eingestellt.',
  'Set the listener as Votifier v1 with its public key, or install NuVotifier, which speaks v2.':
    'Stelle den Listener als Votifier v1 mit seinem öffentlichen Schlüssel ein, oder installiere NuVotifier, das v2 spricht.',
  'The listener takes Votifier v2 only, and a v1 public key is set.':
    'Der Listener nimmt nur Votifier v2 an, und ein öffentlicher Schlüssel für v1 ist eingestellt.',
  'Set the listener as Votifier v2 with the token in the plugin’s configuration.':
    'Stelle den Listener als Votifier v2 mit dem Token aus der Konfiguration des Plugins ein.',
  'The listener’s host resolves to an address that is not public.':
    'Der Host des Listeners führt zu einer Adresse, die nicht öffentlich ist.',
  'Use the server’s public address; for a listener in your own network, the operator adds its range to ALLOWED_PRIVATE_RANGES.':
    'Nimm die öffentliche Adresse des Servers; für einen Listener im eigenen Netz trägt der Betreiber dessen Bereich in ALLOWED_PRIVATE_RANGES ein.',
  'Something that does not speak HTTP answers at this address and port.':
    'Unter dieser Adresse und diesem Port antwortet etwas, das kein HTTP spricht.',
  'Check the port in the URL: it is the website’s, not the game’s and not Votifier’s.':
    'Prüfe den Port in der URL: Es ist der der Website, nicht der des Spiels und nicht der von Votifier.',
  'The URL begins with https://, and what answers there does not speak TLS.':
    'Die URL beginnt mit https://, und was dort antwortet, spricht kein TLS.',
  'Check the port in the URL, enable HTTPS at the website, or begin the URL with http:// if it has none.':
    'Prüfe den Port in der URL, schalte HTTPS an der Website ein, oder beginne die URL mit http://, wenn sie keines hat.',
  'The certificate of the website is not valid.': 'Das Zertifikat der Website ist nicht gültig.',
  'Let a public authority issue a new certificate, and install it with its intermediate certificates.':
    'Lass von einer öffentlichen Zertifizierungsstelle ein neues Zertifikat ausstellen, und installiere es mit seinen Zwischenzertifikaten.',
  'The URL answers with a redirect, and votes do not follow redirects.':
    'Die URL antwortet mit einer Weiterleitung, und Stimmen folgen keinen Weiterleitungen.',
  'Open the URL in a browser to see where the redirect leads, and set the listener to that URL; mostly https://, www. or a slash at the end is missing.':
    'Öffne die URL in einem Browser, um zu sehen, wohin die Weiterleitung führt, und stelle den Listener auf diese URL; meist fehlt https://, www. oder ein Schrägstrich am Ende.',
  'The website refuses the request (HTTP 401 or 403): it does not accept our signature, or a filter blocks it.':
    'Die Website lehnt die Anfrage ab (HTTP 401 oder 403): Sie nimmt unsere Signatur nicht an, oder ein Filter sperrt sie.',
  'Compare the secret there with the listener’s, make a new one if in doubt, and let the filter pass this URL.':
    'Vergleiche das Geheimnis dort mit dem des Listeners, erzeuge im Zweifel ein neues, und lass den Filter diese URL durch.',
  'There is nothing at this URL (HTTP 404 or 410).': 'Unter dieser URL gibt es nichts (HTTP 404 oder 410).',
  'Check the path of the URL, and that the application which takes the votes is installed there.':
    'Prüfe den Pfad der URL und ob die Anwendung, die die Stimmen annimmt, dort installiert ist.',
  'The website answered a signed challenge and did not repeat it, so it may not want votes; none was posted.':
    'Die Website hat eine signierte Challenge beantwortet, ohne sie zu wiederholen, und will vielleicht keine Stimmen; es wurde keine gesendet.',
  'Check that the URL leads to the program that takes the votes, and let it answer a message of the type listener.challenge with its challenge, as the example on the listener’s page shows; then send a test vote, and resume the listener if it is paused.':
    'Prüfe, ob die URL zu dem Programm führt, das die Stimmen annimmt, und lass es eine Nachricht vom Typ listener.challenge mit ihrer Challenge beantworten, wie es das Beispiel auf der Seite des Listeners zeigt; sende dann eine Teststimme, und setze den Listener fort, wenn er pausiert ist.',
  'The listener refused several votes in a row, one by one.':
    'Der Listener hat mehrere Stimmen nacheinander abgelehnt.',
  'Read the reason in the timelines of these votes, correct it, and resume the listener.':
    'Lies den Grund in den Verläufen dieser Stimmen, behebe ihn, und setze den Listener fort.',
  'The listener has taken no vote with its current settings, and gave no answer to the last one, as happens when a plugin that takes votes hangs or fails, at a limit, filter or proxy, and with a wrong token or none for our service name; other votes wait.':
    'Der Listener hat mit seinen jetzigen Einstellungen keine Stimme angenommen und auf die letzte keine Antwort gegeben, wie wenn ein Plugin, das Stimmen annimmt, hängt oder scheitert, bei einem Limit, Filter oder Proxy, und bei einem falschen Token oder keinem für unseren Dienstnamen; andere Stimmen warten.',
  'Look for an error in the game server’s log first; if there is none, check the token for our service name or “default”, add one if there is neither, restart the game server, and resume the listener.':
    'Suche zuerst im Log des Spielservers nach einem Fehler; ist dort keiner, prüfe das Token für unseren Dienstnamen oder „default“, füge eines hinzu, wenn es keines von beiden gibt, starte den Spielserver neu, und setze den Listener fort.',
  'The listener takes no player name of this length.':
    'Der Listener nimmt keinen Spielernamen dieser Länge an.',
  'Other votes are not affected: this player’s name does not fit the game; if it is a test vote, update the vote plugin.':
    'Andere Stimmen sind nicht betroffen: Der Name dieses Spielers passt nicht zum Spiel; ist es eine Teststimme, aktualisiere das Vote-Plugin.',
  'The vote does not fit into one message of this protocol.':
    'Die Stimme passt nicht in eine Nachricht dieses Protokolls.',
  'Choose a shorter service name, or Votifier v2, which takes longer messages than v1.':
    'Wähle einen kürzeren Namen des Dienstes, oder Votifier v2, das längere Nachrichten annimmt als v1.',
  'The listener refused this vote, though it takes others.':
    'Der Listener hat diese Stimme abgelehnt, obwohl er andere annimmt.',
  'Read the listener’s message, correct what it names, and resend the vote.':
    'Lies die Nachricht des Listeners, behebe, was sie nennt, und sende die Stimme noch einmal.',
  'Tallyport was stopped before it sent the vote.': 'Tallyport wurde beendet, bevor es die Stimme sendete.',
  'Tallyport opens only so many connections a minute to an address that has not acknowledged a vote yet, and for one account.':
    'Tallyport öffnet nur eine begrenzte Zahl von Verbindungen je Minute zu einer Adresse, die noch keine Stimme bestätigt hat, und für ein Konto.',
  'Send the test vote again in a minute or two.': 'Sende die Teststimme in ein, zwei Minuten noch einmal.',
  'Send the test vote again; if that fails too, tell the operator of this listing.':
    'Sende die Teststimme noch einmal; wenn auch das scheitert, sag dem Betreiber dieser Liste Bescheid.',
  'Send the test vote again.': 'Sende die Teststimme noch einmal.',
  'There is nothing to do: the vote is sent automatically within a minute or two, and a listener that acknowledges is no longer limited.':
    'Es ist nichts zu tun: Die Stimme wird von selbst in ein, zwei Minuten gesendet, und ein Listener, der bestätigt, ist nicht mehr begrenzt.',
  'Tallyport itself failed before it sent the vote.':
    'Tallyport selbst ist gescheitert, bevor es die Stimme sendete.',
  'There is nothing to do for the owner: the vote is retried automatically, and the operator finds the error in the log.':
    'Für den Besitzer ist nichts zu tun: Die Stimme wird von selbst noch einmal versucht, und der Betreiber findet den Fehler im Log.',
  'Its owner paused it.': 'Der Besitzer hat ihn angehalten.',
  'Resume it to receive votes again: waiting votes are sent then.':
    'Setze ihn fort, um wieder Stimmen zu bekommen: Wartende Stimmen werden dann gesendet.',
  'This URL takes no POST requests (HTTP 405 or 501), and votes are posted.':
    'Diese URL nimmt keine POST-Anfragen an (HTTP 405 oder 501), und Stimmen werden mit POST gesendet.',
  'Check the path of the URL, and that the application there takes POST requests; then send a test vote, and resume the listener if it is paused.':
    'Prüfe den Pfad der URL und ob die Anwendung dort POST-Anfragen annimmt; sende dann eine Teststimme, und setze den Listener fort, wenn er pausiert ist.',
  'The website refuses votes: it has acknowledged none with its current settings, or a new challenge failed after it refused one; other votes wait.':
    'Die Website lehnt Stimmen ab: Sie hat mit ihren jetzigen Einstellungen noch keine bestätigt, oder nach einer abgelehnten Stimme scheiterte eine neue Challenge; weitere Stimmen warten.',
  'Look into the website’s log for the reason, correct it, send a test vote, and resume the listener if it is paused.':
    'Sieh im Log der Website nach dem Grund, behebe ihn, sende eine Teststimme, und setze den Listener fort, wenn er pausiert ist.',
  'The vote was sent, and the listener, which confirmed votes before, closed the connection without an answer, as when its key has changed or a plugin failed; it may have arrived all the same.':
    'Die Stimme wurde gesendet, und der Listener, der vorher Stimmen bestätigt hat, schloss die Verbindung ohne Antwort, wie nach einer Änderung des Schlüssels oder einem Fehler eines Plugins; sie ist vielleicht trotzdem angekommen.',
  'Compare the public key with the plugin’s own (rsa/public.key) and set the listener again with it; if it is right, look for an error of a plugin that takes votes in the game server’s log, and resume the listener if it is paused.':
    'Vergleiche den öffentlichen Schlüssel mit dem des Plugins (rsa/public.key), und stelle den Listener damit neu ein; ist er richtig, suche im Log des Spielservers nach einem Fehler eines Plugins, das Stimmen annimmt, und setze den Listener fort, wenn er pausiert ist.',
  'The vote was sent, and the listener kept the connection open without an answer, as some listeners do when they cannot decrypt a vote or when a plugin that takes votes hangs; it may have arrived all the same.':
    'Die Stimme wurde gesendet, und der Listener hielt die Verbindung ohne Antwort offen, wie es manche tun, wenn sie eine Stimme nicht entschlüsseln können oder ein Plugin hängt, das Stimmen annimmt; sie ist vielleicht trotzdem angekommen.',
  'Compare the public key with the plugin’s own (rsa/public.key) and set the listener again with it; if it is the same already, restart the game server or reload the plugin, which may still use an earlier one, and look for an error of the vote plugin in its log.':
    'Vergleiche den öffentlichen Schlüssel mit dem des Plugins (rsa/public.key), und stelle den Listener damit neu ein; ist es schon derselbe, starte den Spielserver oder lade das Plugin neu, das vielleicht noch einen früheren benutzt, und suche in seinem Log nach einem Fehler des Vote-Plugins.',
  'The listener has taken no vote with its current settings, and gave no answer to the last one, as happens with a wrong public key, when a plugin that takes votes hangs or fails, and at a filter; other votes wait.':
    'Der Listener hat mit den jetzigen Einstellungen noch keine Stimme angenommen und die letzte nicht beantwortet, wie es bei einem falschen öffentlichen Schlüssel geschieht, wenn ein Plugin hängt oder scheitert, das Stimmen annimmt, und bei einem Filter; andere Stimmen warten.',
  'Compare the public key with the plugin’s own (rsa/public.key) and set the listener again with it; if it is right, look for an error in the game server’s log, and resume the listener.':
    'Vergleiche den öffentlichen Schlüssel mit dem des Plugins (rsa/public.key), und stelle den Listener damit neu ein; ist er richtig, suche im Log des Spielservers nach einem Fehler, und setze den Listener fort.',
  'The host in the URL does not resolve to an address.':
    'Der Host in der URL lässt sich nicht zu einer Adresse auflösen.',
  'Check the spelling of the host in the URL and its DNS records.':
    'Prüfe die Schreibweise des Hosts in der URL und seine DNS-Einträge.',
  'The name servers of the host in the URL gave no answer in time.':
    'Die Nameserver des Hosts in der URL gaben nicht rechtzeitig Antwort.',
  'Check that the domain’s name servers work.': 'Prüfe, ob die Nameserver der Domain funktionieren.',
  'The host in the URL resolves to an address that is not public.':
    'Der Host in der URL führt zu einer Adresse, die nicht öffentlich ist.',
  'Use a public address of the website; for one in your own network, the operator adds its range to ALLOWED_PRIVATE_RANGES.':
    'Nimm eine öffentliche Adresse der Website; für eine im eigenen Netz trägt der Betreiber deren Bereich in ALLOWED_PRIVATE_RANGES ein.',
  'The machine answers, but nothing listens on the port in the URL, or a firewall rejects the connection.':
    'Die Maschine antwortet, aber am Port in der URL lauscht nichts, oder eine Firewall weist die Verbindung ab.',
  'Check that the website runs, that it listens on the port in the URL, and that no firewall rejects connections to it.':
    'Prüfe, ob die Website läuft, am Port in der URL lauscht und ob keine Firewall Verbindungen dorthin abweist.',
  'A firewall rejects connections to the port in the URL.':
    'Eine Firewall weist Verbindungen zum Port in der URL ab.',
  'Allow the port in the website’s firewall and at its hosting provider, and check the host in the URL.':
    'Erlaube den Port in der Firewall der Website und bei ihrem Hoster, und prüfe den Host in der URL.',
  'There is no way through the network to the website’s address.':
    'Durch das Netz führt kein Weg zur Adresse der Website.',
  'Check the host in the URL, that the machine is running, and that its network can be reached from the internet.':
    'Prüfe den Host in der URL, ob die Maschine läuft und ob ihr Netz aus dem Internet erreichbar ist.',
  'Nothing answered at the website’s address and port; mostly a firewall drops the connection.':
    'Unter der Adresse und dem Port der Website antwortet nichts; meist verwirft eine Firewall die Verbindung.',
  'Open the port in the website’s firewall and at its hosting provider, and check host and port in the URL.':
    'Öffne den Port in der Firewall der Website und bei ihrem Hoster, und prüfe Host und Port in der URL.',
  'The website took the connection and did not finish the TLS handshake in time.':
    'Die Website hat die Verbindung angenommen und den TLS-Handshake nicht rechtzeitig beendet.',
  'Check that the port in the URL speaks https, and the load of the website.':
    'Prüfe, ob der Port in der URL https spricht, und die Last der Website.',
  'The connection was closed before the vote was sent, in the TLS handshake or before it.':
    'Die Verbindung wurde geschlossen, bevor die Stimme gesendet war, im TLS-Handshake oder davor.',
  'Check that the port in the URL speaks https, and that no filter before the website ends the connection.':
    'Prüfe, ob der Port in der URL https spricht und ob kein Filter vor der Website die Verbindung beendet.',
  'The website closed the connection before the vote was sent.':
    'Die Website hat die Verbindung geschlossen, bevor die Stimme gesendet war.',
  'Look into the website’s log, and check that no filter or address limit before it ends the connection.':
    'Sieh in das Log der Website, und prüfe, ob kein Filter oder Adresslimit davor die Verbindung beendet.',
  'The website took the challenge and did not answer it in time; no vote was posted.':
    'Die Website hat die Challenge angenommen und nicht rechtzeitig beantwortet; es wurde keine Stimme gesendet.',
  'Let the website answer a challenge at once, and check its load.':
    'Lass die Website eine Challenge sofort beantworten, und prüfe ihre Last.',
  'The vote was posted, and the website closed the connection without an answer, so the vote may have arrived.':
    'Die Stimme wurde gesendet, und die Website hat die Verbindung ohne Antwort geschlossen; die Stimme ist also vielleicht angekommen.',
  'Look for an error in the log of the website or application that takes the votes.':
    'Suche im Log der Website oder Anwendung, die die Stimmen annimmt, nach einem Fehler.',
  'The vote was posted, and the connection broke before an answer came, so the vote may have arrived.':
    'Die Stimme wurde gesendet, und die Verbindung brach ab, bevor eine Antwort kam; die Stimme ist also vielleicht angekommen.',
  'Check that the website did not stop at that moment, and that no proxy before it cuts connections.':
    'Prüfe, ob die Website in diesem Moment nicht stoppte und ob kein Proxy davor Verbindungen kappt.',
  'The vote was posted, and no answer came in time, so the vote may have arrived.':
    'Die Stimme wurde gesendet, und es kam nicht rechtzeitig eine Antwort; die Stimme ist also vielleicht angekommen.',
  'Let the website answer before it does what a vote causes, and check its load.':
    'Lass die Website antworten, bevor sie tut, was eine Stimme auslöst, und prüfe ihre Last.',
  'The vote was posted, and what came back is not an HTTP answer, so the vote may have arrived.':
    'Die Stimme wurde gesendet, und was zurückkam, ist keine HTTP-Antwort; die Stimme ist also vielleicht angekommen.',
  'Check that the port in the URL is the website’s, and that no proxy answers in its place.':
    'Prüfe, ob der Port in der URL der der Website ist und ob kein Proxy an ihrer Stelle antwortet.',
  'The website has taken no vote with its current settings, and gave no answer to the last one; other votes wait.':
    'Die Website hat mit den jetzigen Einstellungen noch keine Stimme angenommen und die letzte nicht beantwortet; andere Stimmen warten.',
  'Look into the website’s log, compare the secret there with the listener’s, and resume the listener when that is corrected.':
    'Sieh in das Log der Website, vergleiche das Geheimnis dort mit dem des Listeners, und setze den Listener fort, wenn das behoben ist.',
  'The machine answers over IPv6, but nothing listens at this address and port there, or a firewall rejects the connection.':
    'Die Maschine antwortet über IPv6, aber an diesem Port lauscht dort nichts, oder eine Firewall weist die Verbindung ab.',
  'Check that the program that takes the votes runs and listens over IPv6 too, and that no firewall rejects it, or remove the IPv6 address (AAAA record) of the host.':
    'Prüfe, ob das Programm, das die Stimmen annimmt, läuft und auch über IPv6 lauscht und ob keine Firewall es abweist, oder entferne die IPv6-Adresse (AAAA-Eintrag) des Hosts.',
  'The website takes no more requests for now (HTTP 429, or 503 with Retry-After); the vote may have arrived all the same.':
    'Die Website nimmt zurzeit keine weiteren Anfragen an (HTTP 429 oder 503 mit Retry-After); die Stimme ist vielleicht trotzdem angekommen.',
  'Raise the limit of the website, or of the proxy or filter in front of it, for this URL; if it is down for maintenance, wait until it is back.':
    'Erhöhe das Limit der Website oder des Proxys oder Filters davor für diese URL; wird sie gerade gewartet, warte, bis sie wieder da ist.',
  'The website takes no more requests for now (HTTP 429, or 503 with Retry-After), and it got a challenge; no vote was posted.':
    'Die Website nimmt zurzeit keine weiteren Anfragen an (HTTP 429 oder 503 mit Retry-After) und bekam eine Challenge; es wurde keine Stimme gesendet.',
  'The website answered that it changes the protocol (HTTP 101), which no vote asks for; the vote may have arrived all the same.':
    'Die Website hat geantwortet, dass sie das Protokoll wechselt (HTTP 101), was keine Stimme verlangt; die Stimme ist vielleicht trotzdem angekommen.',
  'Check that the URL leads to what takes the votes, not to a WebSocket, and answer with a status of 200 to 299.':
    'Prüfe, ob die URL zu dem führt, was die Stimmen annimmt, nicht zu einem WebSocket, und antworte mit einem Status von 200 bis 299.',
  'The website answered the challenge that it changes the protocol (HTTP 101), which Tallyport did not ask for; no vote was posted.':
    'Die Website hat auf die Challenge geantwortet, dass sie das Protokoll wechselt (HTTP 101), was Tallyport nicht verlangt hat; es wurde keine Stimme gesendet.',
  'The headers of the website’s answer are longer than 16 KiB, so it could not be read; the vote may have arrived all the same.':
    'Die Header der Antwort der Website sind länger als 16 KiB, sie ließ sich also nicht lesen; die Stimme ist vielleicht trotzdem angekommen.',
  'Let the website answer this URL with fewer or shorter headers: mostly cookies or security policies are too long.':
    'Lass die Website diese URL mit weniger oder kürzeren Headern beantworten: Meist sind Cookies oder Sicherheitsrichtlinien zu lang.',
  'The headers of the website’s answer to the challenge are longer than 16 KiB, so it could not be read; no vote was posted.':
    'Die Header der Antwort der Website auf die Challenge sind länger als 16 KiB, sie ließ sich also nicht lesen; es wurde keine Stimme gesendet.',
  'The website speaks only TLS 1.1 or older, which is not safe any more.':
    'Die Website spricht nur TLS 1.1 oder älter, das nicht mehr sicher ist.',
  'Enable TLS 1.2 or 1.3 at the website or at the proxy in front of it.':
    'Schalte TLS 1.2 oder 1.3 an der Website oder am Proxy davor ein.',
  'The URL begins with http://, and what answers there speaks TLS; nothing of the vote was read.':
    'Die URL beginnt mit http://, und was dort antwortet, spricht TLS; von der Stimme wurde nichts gelesen.',
  'Begin the URL with https://.': 'Beginne die URL mit https://.',
  'The certificate of the website is for another name than the host in the URL.':
    'Das Zertifikat der Website gilt für einen anderen Namen als den Host in der URL.',
  'Set the URL to the name in the certificate, which a browser shows at the lock, or let the website show a certificate for the host in the URL.':
    'Stelle die URL auf den Namen im Zertifikat, den ein Browser beim Schloss zeigt, oder lass die Website ein Zertifikat für den Host in der URL zeigen.',
  'The certificate of the website has expired.': 'Das Zertifikat der Website ist abgelaufen.',
  'Renew the certificate, and restart the website so that it shows the new one.':
    'Erneuere das Zertifikat, und starte die Website neu, damit sie das neue zeigt.',
  'The certificate of the website is not valid yet.': 'Das Zertifikat der Website ist noch nicht gültig.',
  'Wait until its first day, or install the certificate that is valid now; check the clock of the machine that made it.':
    'Warte bis zu seinem ersten Tag, oder installiere das Zertifikat, das jetzt gilt; prüfe die Uhr der Maschine, die es erstellt hat.',
  'The certificate of the website is self-signed, or signed by an authority of its own.':
    'Das Zertifikat der Website ist selbst signiert oder von einer eigenen Zertifizierungsstelle signiert.',
  'Install a certificate of a public authority, such as Let’s Encrypt; a self-signed one is not accepted.':
    'Installiere ein Zertifikat einer öffentlichen Zertifizierungsstelle, wie Let’s Encrypt; ein selbst signiertes wird nicht angenommen.',
  'The chain of the website’s certificate is incomplete: its intermediate certificates are not sent, or they lead to no public authority.':
    'Die Kette des Zertifikats der Website ist unvollständig: Ihre Zwischenzertifikate werden nicht gesendet, oder sie führen zu keiner öffentlichen Zertifizierungsstelle.',
  'Let the website send the intermediate certificates too (often a file called fullchain.pem); if its authority is not a public one, install a certificate of one, such as Let’s Encrypt.':
    'Lass die Website auch die Zwischenzertifikate senden (oft eine Datei namens fullchain.pem); ist ihre Zertifizierungsstelle keine öffentliche, installiere ein Zertifikat einer solchen, etwa von Let’s Encrypt.',
  'The URL redirects to a page to sign in, so it wants a session, which votes do not have.':
    'Die URL leitet zu einer Anmeldeseite weiter; sie verlangt also eine Sitzung, die Stimmen nicht haben.',
  'Let the URL need no session: exempt it from the sign-in, and check the signature of each message instead.':
    'Lass die URL keine Sitzung verlangen: Nimm sie von der Anmeldung aus, und prüfe stattdessen die Signatur jeder Nachricht.',
  'The website’s answer holds the challenge, but beside other text, such as a notice of PHP, a page around it or our whole message; no vote was posted.':
    'Die Antwort der Website enthält die Challenge, aber neben anderem Text, wie einem Hinweis von PHP, einer Seite darum herum oder unserer ganzen Nachricht; es wurde keine Stimme gesendet.',
  'Answer with the challenge alone, or with a JSON object whose key “challenge” is the challenge, and nothing before, after or around it: switch off the output of notices.':
    'Antworte mit der Challenge allein oder mit einem JSON-Objekt, dessen Schlüssel „challenge“ die Challenge ist, und nichts davor, danach oder darum herum: Schalte die Ausgabe von Hinweisen ab.',
  'The website’s answer is the challenge in quotes, as a JSON string; no vote was posted.':
    'Die Antwort der Website ist die Challenge in Anführungszeichen, als JSON-String; es wurde keine Stimme gesendet.',
  'Answer with the challenge without quotes, or with a JSON object whose key “challenge” is the challenge.':
    'Antworte mit der Challenge ohne Anführungszeichen oder mit einem JSON-Objekt, dessen Schlüssel „challenge“ die Challenge ist.',
  'The website’s answer to the challenge is compressed, though Tallyport asked for none; no vote was posted.':
    'Die Antwort der Website auf die Challenge ist komprimiert, obwohl Tallyport das nicht verlangt hat; es wurde keine Stimme gesendet.',
  'Switch the compression off for this URL, or obey Accept-Encoding: identity.':
    'Schalte die Komprimierung für diese URL ab, oder befolge Accept-Encoding: identity.',
  'The website’s answer holds the challenge in UTF-16; no vote was posted.':
    'Die Antwort der Website enthält die Challenge in UTF-16; es wurde keine Stimme gesendet.',
  'Answer in UTF-8.': 'Antworte in UTF-8.',
  'The website refused this vote, though it has taken others.':
    'Die Website hat diese Stimme abgelehnt, obwohl sie andere angenommen hat.',
  'Look into the website’s log for the reason of its status, correct it, and resend the vote.':
    'Suche im Log der Website den Grund ihres Status, behebe ihn, und sende die Stimme noch einmal.',
  'The listener took the connection and then said nothing, though it has taken votes before: the vote plugin hangs, or a filter holds the connection back.':
    'Der Listener hat die Verbindung angenommen und dann nichts gesagt, obwohl er schon Stimmen angenommen hat: Das Vote-Plugin hängt, oder ein Filter hält die Verbindung auf.',
  'Look in the game server’s log whether the vote plugin hangs, check the server’s load, and let no proxy or DDoS filter hold connections back.':
    'Sieh im Log des Spielservers nach, ob das Vote-Plugin hängt, prüfe die Last des Servers, und lass keinen Proxy oder DDoS-Filter Verbindungen aufhalten.',
  'The machine answers, but nothing listens any more on the port that has taken votes before, or a firewall rejects the connection.':
    'Die Maschine antwortet, aber an dem Port, der schon Stimmen angenommen hat, lauscht nichts mehr, oder eine Firewall weist die Verbindung ab.',
  'Check that the game server runs with its vote plugin, whose log does not say “not able to bind”, and that no firewall rejects connections to the port.':
    'Prüfe, ob der Spielserver mit seinem Vote-Plugin läuft, ob sein Log meldet, dass es den Port nicht öffnen konnte, und ob keine Firewall Verbindungen zum Port abweist.',
  'Votes were fetched while the test waited.': 'Während der Test wartete, wurden Stimmen abgerufen.',
  'The program that fetches the votes could not hand this one over, and will fetch it again.':
    'Das Programm, das die Stimmen abruft, konnte diese nicht weitergeben und ruft sie noch einmal ab.',
  'Read its reason and its log; it gets the vote again by the schedule, for 72 hours after it was cast.':
    'Lies den gemeldeten Grund und das Protokoll des Programms; es bekommt die Stimme nach dem Zeitplan wieder, bis 72 Stunden nach der Abgabe.',
  'No program fetched votes while the test waited.':
    'Während der Test wartete, hat kein Programm Stimmen abgerufen.',
  'Start the relay or the plugin that fetches the votes, check that it has the address and a valid delivery token from “Connect”, and look into its log.':
    'Starte das Relay oder das Plugin, das die Stimmen abruft, prüfe, ob es die Adresse und ein gültiges Zustell-Token von „Verbinden“ hat, und sieh in sein Protokoll.',
  'The program that fetches the votes does not know whether it handed this one over, so the vote may have arrived.':
    'Das Programm, das die Stimmen abruft, weiß nicht, ob es diese weitergegeben hat; die Stimme kann also angekommen sein.',
  'Look into its log, and check whether the game server stopped at that moment; the vote can be fetched again as often as you allow.':
    'Sieh in sein Protokoll und prüfe, ob der Spielserver in diesem Moment stehen blieb; die Stimme kann so oft noch einmal abgerufen werden, wie du es erlaubst.',
  'The program that fetches the votes refused this one for good.':
    'Das Programm, das die Stimmen abruft, hat diese endgültig abgelehnt.',
  'Read its reason, correct what it names, and send the vote again.':
    'Lies den gemeldeten Grund, behebe ihn und sende die Stimme noch einmal.',
  'The program that fetches the votes handed this one over, and the game server confirmed it.':
    'Das Programm, das die Stimmen abruft, hat diese weitergegeben, und der Spielserver hat sie bestätigt.',
  'The program that fetches the votes handed this one to a plugin that confirms nothing, such as Votifier v1.':
    'Das Programm, das die Stimmen abruft, hat diese an ein Plugin gegeben, das nichts bestätigt, etwa Votifier v1.',
  'If votes do not arrive in the game, compare the public key that it uses with the plugin’s own, and look for an error in the game server’s log.':
    'Wenn Stimmen im Spiel nicht ankommen, vergleiche den benutzten öffentlichen Schlüssel mit dem des Plugins und suche im Protokoll des Spielservers nach einem Fehler.',
  'The vote was fetched, but the program that fetched it did not report in time what became of it, so the vote may have arrived.':
    'Die Stimme wurde abgerufen, aber das Programm hat nicht rechtzeitig gemeldet, was aus ihr wurde; sie kann also angekommen sein.',
  'Look into the log of the program that fetches the votes, and check whether the game server stopped at that moment; the vote can be fetched again as often as you allow.':
    'Sieh in das Protokoll des Programms, das die Stimmen abruft, und prüfe, ob der Spielserver in diesem Moment stehen blieb; die Stimme kann so oft noch einmal abgerufen werden, wie du es erlaubst.',
} as const satisfies Record<string, string>;
