/** Texts of sign-up, sign-in and the account's own pages. */
export const ACCOUNTS = {
  'must have at most 254 characters': 'darf höchstens 254 Zeichen haben',
  'must be an e-mail address': 'muss eine E-Mail-Adresse sein',
  'Could not set this password. Choose another one.':
    'Dieses Passwort konnte nicht gesetzt werden. Wähle ein anderes.',
  'Reset your password': 'Passwort zurücksetzen',
  'Enter your e-mail address. We will send you a link to set a new password.':
    'Gib deine E-Mail-Adresse ein. Wir senden dir einen Link, mit dem du ein neues Passwort setzt.',
  'E-mail address': 'E-Mail-Adresse',
  'Send link': 'Link senden',
  'Back to sign-in': 'Zurück zur Anmeldung',
  'Check your inbox': 'Sieh in dein Postfach',
  'If an account exists for {email}, we have sent a link to it. The link works once and expires in one hour.':
    'Wenn es ein Konto für {email} gibt, haben wir einen Link dorthin gesendet. Der Link gilt einmal und läuft in einer Stunde ab.',
  'No mail? Check your spam folder and the address above.':
    'Keine Mail? Sieh im Spam-Ordner nach und prüfe die Adresse oben.',
  'This listing does not send e-mail. Ask its operator for a link to set a new password.':
    'Dieses Verzeichnis sendet keine E-Mails. Bitte den Betreiber um einen Link für ein neues Passwort.',
  'This link does not work': 'Dieser Link funktioniert nicht',
  'It was already used, it is more than one hour old, the password was changed since, or the link is incomplete.':
    'Er wurde schon benutzt, er ist über eine Stunde alt, das Passwort wurde seitdem geändert, oder der Link ist unvollständig.',
  'Request a new link': 'Einen neuen Link anfordern',
  'Ask the person who gave it to you for a new link.':
    'Bitte die Person, von der du ihn hast, um einen neuen Link.',
  'Set a password': 'Passwort setzen',
  'New password': 'Neues Passwort',
  'Set password': 'Passwort setzen',
  'All of your sessions will be signed out. Sign in with the new password.':
    'Alle deine Sitzungen werden abgemeldet. Melde dich mit dem neuen Passwort an.',
  'Enter your password.': 'Gib dein Passwort ein.',
  'The password is too long.': 'Das Passwort ist zu lang.',
  'Enter a code.': 'Gib einen Code ein.',
  'The code is too long.': 'Der Code ist zu lang.',
  'Too many attempts.': 'Zu viele Versuche.',
  'Too many new accounts came from your network, your mail provider or this mailbox in the last 24 hours. Try again tomorrow, or with another network or mailbox.':
    'Aus deinem Netz, von deinem Mailanbieter oder mit diesem Postfach kamen in den letzten 24 Stunden zu viele neue Konten. Versuche es morgen noch einmal oder mit einem anderen Netz oder Postfach.',
  'The password is wrong.': 'Das Passwort ist falsch.',
  'The code is wrong. Wait for the next one, or enter a backup code.':
    'Der Code ist falsch. Warte auf den nächsten, oder gib einen Ersatzcode ein.',
  'The backup code is wrong or was already used.': 'Der Ersatzcode ist falsch oder wurde schon benutzt.',
  'That code was already used. Wait for the next one.':
    'Dieser Code wurde schon benutzt. Warte auf den nächsten.',
  'Set a password first.': 'Setze zuerst ein Passwort.',
  'Your password': 'Dein Passwort',
  Code: 'Code',
  'Six digits from your authenticator app, or one of your backup codes.':
    'Sechs Ziffern aus deiner Authenticator-App oder einer deiner Ersatzcodes.',
  'Enter the six digits.': 'Gib die sechs Ziffern ein.',
  'The code is wrong. Wait for the next one, and check the clock of your phone.':
    'Der Code ist falsch. Warte auf den nächsten, und prüfe die Uhr deines Telefons.',
  'Your account will be deleted on {time}, with your servers and reviews.':
    'Dein Konto wird am {time} gelöscht, mit deinen Servern und Bewertungen.',
  'Keep my account': 'Mein Konto behalten',
  'Delete your account': 'Dein Konto löschen',
  'Your account is deleted after 7 days. Until then everything stays as it is, and you can change your mind with the link that we mail to you, or on your account page. After that nobody can bring it back.':
    'Dein Konto wird nach 7 Tagen gelöscht. Bis dahin bleibt alles, wie es ist, und du kannst es dir mit dem Link in unserer Mail oder auf deiner Kontoseite anders überlegen. Danach kann es niemand zurückholen.',
  'Your account is deleted after 7 days. Until then everything stays as it is, and you can change your mind on your account page. After that nobody can bring it back.':
    'Dein Konto wird nach 7 Tagen gelöscht. Bis dahin bleibt alles, wie es ist, und du kannst es dir auf deiner Kontoseite anders überlegen. Danach kann es niemand zurückholen.',
  'What happens': 'Was geschieht',
  'Delete my account in 7 days': 'Mein Konto in 7 Tagen löschen',
  'You have no password yet. <a>Set one</a> first.': 'Du hast noch kein Passwort. <a>Setze</a> zuerst eines.',
  'Back to your account': 'Zurück zu deinem Konto',
  'You have none.': 'Du hast keine.',
  'Removed from the listing for ever: {servers}. Their members lose them too, and votes that still wait for a vote listener are not delivered. If a server should stay listed, ask the operator to transfer it to another account first.':
    'Für immer aus dem Verzeichnis entfernt: {servers}. Auch ihre Mitglieder verlieren sie, und Stimmen, die noch auf einen Vote-Listener warten, werden nicht zugestellt. Soll ein Server gelistet bleiben, bitte den Betreiber vorher, ihn einem anderen Konto zu übertragen.',
  'Servers of others': 'Server von anderen',
  'You leave the servers that you are a member of. They stay listed.':
    'Du verlässt die Server, in denen du Mitglied bist. Sie bleiben gelistet.',
  'API tokens': 'API-Tokens',
  'All tokens and claim keys of your servers stop working.':
    'Alle Tokens und Claim-Keys deiner Server funktionieren nicht mehr.',
  'You have written none.': 'Du hast keine geschrieben.',
  'Your {reviews} and the owners’ answers are deleted.':
    '{reviews} von dir und die Antworten der Besitzer werden gelöscht.',
  'Reviews of your servers disappear with them.': 'Bewertungen deiner Server verschwinden mit ihnen.',
  'Votes carry a player name and not your account, so votes for other servers stay and still count.':
    'Stimmen tragen einen Spielernamen und nicht dein Konto, daher bleiben Stimmen für andere Server und zählen weiter.',
  Reports: 'Meldungen',
  'Your reports about servers stay without your account.':
    'Deine Meldungen über Server bleiben, ohne dein Konto.',
  Favourites: 'Favoriten',
  'Your favourites, and the player name of your last vote on a page, are deleted.':
    'Deine Favoriten und der Spielername deiner letzten Stimme auf einer Seite werden gelöscht.',
  'Sign-in': 'Anmeldung',
  'Your e-mail address, name, password, second factor and sessions are deleted. You can sign up again with the same address.':
    'Deine E-Mail-Adresse, dein Name, dein Passwort, dein zweiter Faktor und deine Sitzungen werden gelöscht. Du kannst dich mit derselben Adresse wieder registrieren.',
  'What stays': 'Was bleibt',
  'The operators’ audit log keeps your address with the changes that you made. The record of mails keeps it for 7 days.':
    'Das Protokoll der Betreiber behält deine Adresse mit den Änderungen, die du gemacht hast. Das Verzeichnis der Mails behält sie 7 Tage.',
  'Keep your account': 'Dein Konto behalten',
  'Your account will be deleted on {time}.': 'Dein Konto wird am {time} gelöscht.',
  'If you did not ask for the deletion, somebody knows your password. Keep the account, then <a>set a new password</a>.':
    'Wenn du die Löschung nicht verlangt hast, kennt jemand dein Passwort. Behalte das Konto, und <a>setze dann ein neues Passwort</a>.',
  'Your account stays': 'Dein Konto bleibt',
  'The deletion is cancelled. Nothing was deleted.': 'Die Löschung ist abgebrochen. Nichts wurde gelöscht.',
  'Your account': 'Dein Konto',
  'The deletion was cancelled already, or the account is deleted; or the link is incomplete.':
    'Die Löschung wurde schon abgebrochen, oder das Konto ist gelöscht; oder der Link ist unvollständig.',
  'See <a>your account</a>.': 'Sieh in <a>dein Konto</a>.',
  'Change e-mail address': 'E-Mail-Adresse ändern',
  confirmed: 'bestätigt',
  'not confirmed': 'nicht bestätigt',
  'Change to <strong>{to}</strong>: open the links in our mails to both addresses.':
    'Änderung zu <strong>{to}</strong>: Öffne die Links in unseren Mails an beide Adressen.',
  'Present address': 'Jetzige Adresse',
  'New address': 'Neue Adresse',
  Lapses: 'Verfällt',
  'Cancel the change': 'Änderung abbrechen',
  'Change your e-mail address': 'Deine E-Mail-Adresse ändern',
  'We send a link to both addresses. The change happens after you have opened both and confirmed, within three days. Your other sessions are then signed out.':
    'Wir senden einen Link an beide Adressen. Die Änderung geschieht, nachdem du innerhalb von drei Tagen beide geöffnet und bestätigt hast. Deine anderen Sitzungen werden dann abgemeldet.',
  'The new address is what you sign in with. Your other sessions are signed out.':
    'Mit der neuen Adresse meldest du dich an. Deine anderen Sitzungen werden abgemeldet.',
  'New e-mail address': 'Neue E-Mail-Adresse',
  'Change address': 'Adresse ändern',
  'If you cannot read mails to your present address, ask the operator of this listing.':
    'Wenn du Mails an deine jetzige Adresse nicht lesen kannst, frage den Betreiber dieses Verzeichnisses.',
  'Confirm both addresses': 'Beide Adressen bestätigen',
  'We have sent a link to {from} and one to {to}. Open both within three days. Until then your address stays as it is.':
    'Wir haben einen Link an {from} und einen an {to} gesendet. Öffne beide innerhalb von drei Tagen. Bis dahin bleibt deine Adresse, wie sie ist.',
  'Confirm the change of your address': 'Änderung deiner Adresse bestätigen',
  'Confirm change': 'Änderung bestätigen',
  'Confirm this address': 'Diese Adresse bestätigen',
  'Cancel change': 'Änderung abbrechen',
  'If you did not ask for this, somebody knows your password. Cancel the change, then <a>set a new password</a>.':
    'Wenn du das nicht verlangt hast, kennt jemand dein Passwort. Brich die Änderung ab, und <a>setze dann ein neues Passwort</a>.',
  'Your address is about to be changed': 'Deine Adresse soll geändert werden',
  'An operator was asked for this change. It happens when the new address confirms it. If you did not ask for it, cancel it and tell the operator.':
    'Ein Betreiber wurde um diese Änderung gebeten. Sie geschieht, sobald die neue Adresse sie bestätigt. Wenn du sie nicht verlangt hast, brich sie ab und sag es dem Betreiber.',
  'If you did not ask for this, close this page. Nothing will change.':
    'Wenn du das nicht verlangt hast, schließe diese Seite. Nichts ändert sich.',
  'One address is confirmed': 'Eine Adresse ist bestätigt',
  'Now open the link in our mail to {to}. The address changes after that.':
    'Öffne jetzt den Link in unserer Mail an {to}. Danach ändert sich die Adresse.',
  'the present address of the account': 'die jetzige Adresse des Kontos',
  'The address is changed': 'Die Adresse ist geändert',
  'The address of your account is now {to}. Sign in with it from now on.':
    'Die Adresse deines Kontos ist jetzt {to}. Melde dich von nun an damit an.',
  'The address was not changed': 'Die Adresse wurde nicht geändert',
  'Another account has the new address by now.': 'Ein anderes Konto hat inzwischen die neue Adresse.',
  'The change is cancelled': 'Die Änderung ist abgebrochen',
  'The address of your account is still {from}. If you did not ask for the change, <a>set a new password</a> now: somebody knows yours.':
    'Die Adresse deines Kontos ist weiterhin {from}. Wenn du die Änderung nicht verlangt hast, <a>setze jetzt ein neues Passwort</a>: Jemand kennt deines.',
  'The change is complete, was cancelled or replaced by a newer one, or is more than three days old; or the link is incomplete.':
    'Die Änderung ist abgeschlossen, wurde abgebrochen oder durch eine neuere ersetzt, oder sie ist über drei Tage alt; oder der Link ist unvollständig.',
  'An account with this e-mail address already exists.': 'Es gibt schon ein Konto mit dieser E-Mail-Adresse.',
  'This account no longer exists.': 'Dieses Konto gibt es nicht mehr.',
  'Enter your current password.': 'Gib dein jetziges Passwort ein.',
  'E-mail address changed. Your other sessions are signed out.':
    'E-Mail-Adresse geändert. Deine anderen Sitzungen sind abgemeldet.',
  '{browser} on {system}': '{browser} auf {system}',
  'Unknown browser': 'Unbekannter Browser',
  'Name updated.': 'Name geändert.',
  'Your account will not be deleted.': 'Dein Konto wird nicht gelöscht.',
  'Change of the e-mail address cancelled.': 'Änderung der E-Mail-Adresse abgebrochen.',
  'Password changed. Your other sessions are signed out.':
    'Passwort geändert. Deine anderen Sitzungen sind abgemeldet.',
  'Session signed out.': 'Sitzung abgemeldet.',
  'The current password is wrong.': 'Das jetzige Passwort ist falsch.',
  Profile: 'Profil',
  Password: 'Passwort',
  'Two-factor authentication': 'Zwei-Faktor-Anmeldung',
  on: 'an',
  off: 'aus',
  'Sign in with a code from your phone in addition to your password. A stolen password alone is then not enough.':
    'Melde dich zusätzlich zum Passwort mit einem Code von deinem Telefon an. Ein gestohlenes Passwort allein reicht dann nicht.',
  'Set up': 'Einrichten',
  Manage: 'Verwalten',
  Notifications: 'Benachrichtigungen',
  linked: 'verknüpft',
  'You can sign in with {name}.': 'Du kannst dich mit {name} anmelden.',
  'not linked': 'nicht verknüpft',
  'To link it, sign in once with an account at {name} that has the same e-mail address.':
    'Um es zu verknüpfen, melde dich einmal mit einem Konto bei {name} an, das dieselbe E-Mail-Adresse hat.',
  'Remove the link': 'Verknüpfung entfernen',
  'Link removed.': 'Verknüpfung entfernt.',
  Sessions: 'Sitzungen',
  'Sign out everywhere': 'Überall abmelden',
  'Your data': 'Deine Daten',
  'Your name': 'Dein Name',
  'Shown with your reviews, if you enter no other name there, and with your answers to reviews.':
    'Steht bei deinen Bewertungen, wenn du dort keinen anderen Namen angibst, und bei deinen Antworten auf Bewertungen.',
  'Save name': 'Name speichern',
  'You have no password yet. <a>Request a link</a> to set one.':
    'Du hast noch kein Passwort. <a>Fordere einen Link an</a>, um eines zu setzen.',
  'You have no password. Ask the operator of this listing for a link to set one.':
    'Du hast kein Passwort. Bitte den Betreiber dieses Verzeichnisses um einen Link, um eines zu setzen.',
  'Current password': 'Jetziges Passwort',
  'At least {min} characters. Your other sessions will be signed out.':
    'Mindestens {min} Zeichen. Deine anderen Sitzungen werden abgemeldet.',
  'Change password': 'Passwort ändern',
  'E-mail me about my servers': 'Schreibt mir Mails zu meinen Servern',
  Save: 'Speichern',
  'Your reviews': 'Deine Bewertungen',
  'The file has your account, sessions, servers, reviews, favourites and what the audit log says of your changes. It has no passwords, tokens or other secrets.':
    'Die Datei enthält dein Konto, deine Sitzungen, Server, Bewertungen, Favoriten und was das Protokoll über deine Änderungen sagt. Sie enthält keine Passwörter, Tokens oder andere Geheimnisse.',
  'Download your data (JSON)': 'Deine Daten herunterladen (JSON)',
  Browser: 'Browser',
  'IP address': 'IP-Adresse',
  'Signed in': 'Angemeldet',
  Action: 'Aktion',
  'this session': 'diese Sitzung',
  'Sign out': 'Abmelden',
  'Operators of this listing must use two-factor authentication. Set it up to open the admin area.':
    'Betreiber dieses Verzeichnisses müssen die Zwei-Faktor-Anmeldung nutzen. Richte sie ein, um die Verwaltung zu öffnen.',
  'You need an authenticator app, such as Aegis, Google Authenticator or a password manager. It shows a six-digit code that you enter when you sign in.':
    'Du brauchst eine Authenticator-App, etwa Aegis, Google Authenticator oder einen Passwortmanager. Sie zeigt einen sechsstelligen Code, den du bei der Anmeldung eingibst.',
  'New backup codes': 'Neue Ersatzcodes',
  'Each backup code signs you in once if you do not have your phone. New codes replace the old ones.':
    'Jeder Ersatzcode meldet dich einmal an, wenn du dein Telefon nicht hast. Neue Codes ersetzen die alten.',
  'Generate new backup codes': 'Neue Ersatzcodes erzeugen',
  'Turn off': 'Ausschalten',
  'Turn off two-factor authentication': 'Zwei-Faktor-Anmeldung ausschalten',
  'You will sign in with your password only. To move to another phone, turn it off and set it up again.':
    'Du meldest dich dann nur mit deinem Passwort an. Um auf ein anderes Telefon zu wechseln, schalte sie aus und richte sie neu ein.',
  'Set up two-factor authentication': 'Zwei-Faktor-Anmeldung einrichten',
  '1. Scan this code with your app': '1. Scanne diesen Code mit deiner App',
  'QR code for your authenticator app': 'QR-Code für deine Authenticator-App',
  'Or enter this secret in the app:': 'Oder gib dieses Geheimnis in der App ein:',
  Secret: 'Geheimnis',
  '2. Enter the code from your app': '2. Gib den Code aus deiner App ein',
  'The code and the secret are shown only once. Two-factor authentication is on after you enter a correct code.':
    'Der Code und das Geheimnis werden nur einmal gezeigt. Die Zwei-Faktor-Anmeldung ist an, nachdem du einen richtigen Code eingegeben hast.',
  'App not set up yet? <a>Start over</a>.': 'App noch nicht eingerichtet? <a>Beginne von vorn</a>.',
  'Six digits.': 'Sechs Ziffern.',
  'Turn on': 'Einschalten',
  'Backup codes': 'Ersatzcodes',
  'Two-factor authentication is on.': 'Die Zwei-Faktor-Anmeldung ist an.',
  'Two-factor authentication is off.': 'Die Zwei-Faktor-Anmeldung ist aus.',
  'Two-factor authentication is already on.': 'Die Zwei-Faktor-Anmeldung ist schon an.',
  'Too many links were requested. Check your inbox: the links that we sent still work. Otherwise, try again later.':
    'Es wurden zu viele Links angefordert. Sieh in dein Postfach: Die gesendeten Links gelten noch. Sonst versuche es später noch einmal.',
  'The old backup codes no longer work.': 'Die alten Ersatzcodes gelten nicht mehr.',
  'Print these codes or save them in your password manager, not on the same phone. Each code signs you in once if you cannot use your app. They are shown only once.':
    'Drucke diese Codes aus oder speichere sie in deinem Passwortmanager, nicht auf demselben Telefon. Jeder Code meldet dich einmal an, wenn du deine App nicht nutzen kannst. Sie werden nur einmal gezeigt.',
  'I have saved them': 'Ich habe sie gespeichert',
  'You have no such review.': 'Du hast keine solche Bewertung.',
  'A removed server': 'Ein entfernter Server',
  'Edit<span> the review of {name}</span>': 'Ändern<span>: Bewertung von {name}</span>',
  Delete: 'Löschen',
  'the review of {name}': 'die Bewertung von {name}',
  'There are no more reviews.': 'Es gibt keine weiteren Bewertungen.',
  'Use at least {min} characters.': 'Nimm mindestens {min} Zeichen.',
  'Use at most {max} characters.': 'Nimm höchstens {max} Zeichen.',
  'This password is too common. Choose another one.': 'Dieses Passwort ist zu verbreitet. Wähle ein anderes.',
  'The password must not be your e-mail address or name. Choose another one.':
    'Das Passwort darf nicht deine E-Mail-Adresse oder dein Name sein. Wähle ein anderes.',
  'An account with this e-mail address already exists. Sign in, or reset your password.':
    'Es gibt schon ein Konto mit dieser E-Mail-Adresse. Melde dich an, oder setze dein Passwort zurück.',
  'Could not create the account. Check your entries.':
    'Das Konto konnte nicht angelegt werden. Prüfe deine Eingaben.',
  'Sign up': 'Registrieren',
  'We will send you a link to choose your password.':
    'Wir senden dir einen Link, mit dem du dein Passwort wählst.',
  'Have an account? <a>Sign in</a>.': 'Du hast ein Konto? <a>Melde dich an</a>.',
  'At least {min} characters. Several words work well.': 'Mindestens {min} Zeichen. Mehrere Wörter sind gut.',
  'Confirm your e-mail address': 'Bestätige deine E-Mail-Adresse',
  'We have sent a link to {email}. Open it to choose your password. It expires in one day.':
    'Wir haben einen Link an {email} gesendet. Öffne ihn, um dein Passwort zu wählen. Er läuft in einem Tag ab.',
  'No mail? Check your spam folder and the address above, or sign up again.':
    'Keine Mail? Sieh im Spam-Ordner nach, prüfe die Adresse oben, oder registriere dich noch einmal.',
  'Enter your e-mail address.': 'Gib deine E-Mail-Adresse ein.',
  'The address is too long.': 'Die Adresse ist zu lang.',
  'Enter the code.': 'Gib den Code ein.',
  'You are signed out.': 'Du bist abgemeldet.',
  'You are signed out of all sessions.': 'Du bist in allen Sitzungen abgemeldet.',
  'Password set. Sign in with your new password.':
    'Passwort gesetzt. Melde dich mit deinem neuen Passwort an.',
  'This sign-in has expired. Sign in again.': 'Diese Anmeldung ist abgelaufen. Melde dich noch einmal an.',
  'Your e-mail address is confirmed. Sign in to continue.':
    'Deine E-Mail-Adresse ist bestätigt. Melde dich an, um fortzufahren.',
  'Your session has ended, so nothing was saved. Sign in and try again.':
    'Deine Sitzung ist zu Ende, daher wurde nichts gespeichert. Melde dich an und versuche es noch einmal.',
  'This account is suspended.': 'Dieses Konto ist gesperrt.',
  'This account is suspended: “{reason}”': 'Dieses Konto ist gesperrt: „{reason}“',
  'Contact the operator of this listing.': 'Wende dich an den Betreiber dieses Verzeichnisses.',
  'Your e-mail address is not confirmed yet. Open the link that we sent you to choose your password.':
    'Deine E-Mail-Adresse ist noch nicht bestätigt. Öffne den Link, den wir dir gesendet haben, um dein Passwort zu wählen.',
  'Too many wrong codes. Try again in 15 minutes.':
    'Zu viele falsche Codes. Versuche es in 15 Minuten noch einmal.',
  'Too many wrong codes. Sign in again.': 'Zu viele falsche Codes. Melde dich noch einmal an.',
  'Wrong e-mail address or password.': 'E-Mail-Adresse oder Passwort ist falsch.',
  'The code is wrong or has expired.': 'Der Code ist falsch oder abgelaufen.',
  'Sign in': 'Anmelden',
  'Forgot your password?': 'Passwort vergessen?',
  'New here? <a>Sign up</a> to keep favourites, write reviews or list your server.':
    'Neu hier? <a>Registriere dich</a> für Favoriten, Bewertungen oder deinen eigenen Server.',
  Continue: 'Weiter',
  'You can export your data three times in an hour.':
    'Du kannst deine Daten dreimal in einer Stunde herunterladen.',
  'The sign-in with {name} took too long, or began in another browser. Try again.':
    'Die Anmeldung mit {name} hat zu lange gedauert oder in einem anderen Browser begonnen. Versuche es noch einmal.',
  'This account requires its password: you cannot sign in with {name}.':
    'Dieses Konto braucht sein Passwort: Mit {name} kannst du dich nicht anmelden.',
  'Sign-in with {name} failed. Try again, or use your password.':
    'Die Anmeldung mit {name} ist fehlgeschlagen. Versuche es noch einmal, oder nutze dein Passwort.',
  'Sign-in with {name} does not work at the moment. Try again later, or use your password.':
    'Die Anmeldung mit {name} geht im Moment nicht. Versuche es später noch einmal, oder nutze dein Passwort.',
  'You cancelled the sign-in with {name}.': 'Du hast die Anmeldung mit {name} abgebrochen.',
  'Your account at {name} has no verified e-mail address. Verify one there first.':
    'Dein Konto bei {name} hat keine bestätigte E-Mail-Adresse. Bestätige dort zuerst eine.',
  'This account requires its password. Sign in with your password.':
    'Dieses Konto verlangt sein Passwort. Melde dich mit deinem Passwort an.',
  'Continue with {name}': 'Weiter mit {name}',
  'You sign in at {name}.': 'Du meldest dich bei {name} an.',
  'Finish signing up': 'Registrierung abschließen',
  'Create account': 'Konto anlegen',
  'If you did not sign up here, close this page. No account will be created.':
    'Wenn du dich hier nicht registriert hast, schließe diese Seite. Es wird kein Konto angelegt.',
  'It was already used, it is more than one day old, or it is incomplete. Some mail programs break long links.':
    'Er wurde schon benutzt, ist über einen Tag alt, oder er ist unvollständig. Manche Mailprogramme trennen lange Links.',
  '<a>Sign in</a>, or <a2>sign up again</a2> to get a new link.':
    '<a>Melde dich an</a>, oder <a2>registriere dich noch einmal</a2>, um einen neuen Link zu bekommen.',
  'You already have an account': 'Du hast schon ein Konto',
  'An account with your e-mail address already exists. <a>Sign in</a>, or <a2>set a new password</a2>.':
    'Es gibt schon ein Konto mit deiner E-Mail-Adresse. <a>Melde dich an</a>, oder <a2>setze ein neues Passwort</a2>.',
} as const satisfies Record<string, string>;
