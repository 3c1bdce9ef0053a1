/** Error texts for invalid input. */
export const INPUT = {
  'Many pictures are being read at this moment. Try again in a minute.':
    'Gerade werden viele Bilder gelesen. Versuche es in einer Minute noch einmal.',
  'The picture has {width} × {height} pixels. It needs at least {least}.':
    'Das Bild hat {width} × {height} Pixel. Nötig sind mindestens {least}.',
  'The picture has {width} × {height} pixels. It may have at most 16 million, and {longest} on a side.':
    'Das Bild hat {width} × {height} Pixel. Erlaubt sind höchstens 16 Millionen und {longest} je Seite.',
  'The picture is damaged or incomplete. Save it again and retry.':
    'Das Bild ist beschädigt oder unvollständig. Speichere es neu und versuche es noch einmal.',
  'Reading the picture took too long. Save it in a simpler form and retry.':
    'Das Lesen des Bildes hat zu lange gedauert. Speichere es in einer einfacheren Form und versuche es noch einmal.',
  'The picture has too few pixels.': 'Das Bild hat zu wenige Pixel.',
  'The picture was not prepared. Upload it again.':
    'Das Bild wurde nicht aufbereitet. Lade es noch einmal hoch.',
  'The picture may have at most 16 million pixels.': 'Das Bild darf höchstens 16 Millionen Pixel haben.',
  'The file is no PNG, JPEG or WebP picture.': 'Die Datei ist kein Bild in PNG, JPEG oder WebP.',
  'The picture is animated. Use one with a single frame.':
    'Das Bild ist animiert. Nimm eines mit einem einzigen Bild.',
  'The token has quotes around it: paste it without them.':
    'Das Token steht in Anführungszeichen: Füge es ohne sie ein.',
  'This is a line of a configuration: paste only what follows “{key}”.':
    'Das ist eine Zeile einer Konfiguration: Füge nur ein, was auf „{key}“ folgt.',
  'must be a string': 'muss Text sein',
  'must be valid Unicode: it has an unpaired surrogate':
    'muss gültiges Unicode sein: Es enthält ein halbes Zeichen',
  'must not be empty': 'darf nicht leer sein',
  'must have at least {min} characters': 'muss mindestens {min} Zeichen haben',
  'must have at most {max} characters': 'darf höchstens {max} Zeichen haben',
  'must be text': 'muss Text sein',
  'must have no line breaks and no other control characters':
    'darf keine Zeilenumbrüche und keine anderen Steuerzeichen haben',
  'must have a visible character': 'muss ein sichtbares Zeichen haben',
  'must have no control characters but line breaks': 'darf außer Zeilenumbrüchen keine Steuerzeichen haben',
  'must say why': 'muss den Grund nennen',
  'Use square brackets only for an IPv6 address.': 'Eckige Klammern gehören nur um eine IPv6-Adresse.',
  'A host has at most {max} characters.': 'Ein Host hat höchstens {max} Zeichen.',
  'Write an IPv4 address as four decimal numbers, like 203.0.113.7.':
    'Schreibe eine IPv4-Adresse als vier Dezimalzahlen, etwa 203.0.113.7.',
  '“{host}” is not a host name: write it like play.example.org.':
    '„{host}“ ist kein Hostname: Schreibe ihn wie play.example.org.',
  'The host is empty.': 'Der Host ist leer.',
  'A host has no white space and no invisible characters.':
    'Ein Host hat keine Leerzeichen und keine unsichtbaren Zeichen.',
  'Enter the host alone, without “://” and the text before it.':
    'Gib nur den Host ein, ohne „://“ und den Text davor.',
  'Enter the host alone, without a path or a user name.':
    'Gib nur den Host ein, ohne Pfad und ohne Nutzernamen.',
  'Enter the host without a port: the port has its own field.':
    'Gib den Host ohne Port ein: Der Port hat ein eigenes Feld.',
  'An IPv6 address with a zone (“%…”) works on one machine only.':
    'Eine IPv6-Adresse mit Zone („%…“) gilt nur auf einer Maschine.',
  'The public key is empty.': 'Der öffentliche Schlüssel ist leer.',
  'This is far too long to be a public key.': 'Das ist viel zu lang für einen öffentlichen Schlüssel.',
  'This is a {kind}, not a public key.': 'Das ist „{kind}“, kein öffentlicher Schlüssel.',
  'This looks like a token, not a public key: choose Votifier v2, or paste the content of public.key.':
    'Das sieht nach einem Token aus, nicht nach einem öffentlichen Schlüssel: Wähle Votifier v2, oder füge den Inhalt von public.key ein.',
  'The public key is not readable: its base64 is broken. Paste it whole.':
    'Der öffentliche Schlüssel ist nicht lesbar: Sein Base64 ist beschädigt. Füge ihn ganz ein.',
  'This is base64, but not a public key. Paste it whole.':
    'Das ist Base64, aber kein öffentlicher Schlüssel. Füge ihn ganz ein.',
  'This is not an RSA key, but one of type {kind}.':
    'Das ist kein RSA-Schlüssel, sondern einer vom Typ {kind}.',
  'The RSA key has {bits} bits; Votifier uses keys of {expected} bits.':
    'Der RSA-Schlüssel hat {bits} Bit; Votifier nutzt Schlüssel mit {expected} Bit.',
  'This is a private key. It must stay on the game server: paste the public key, and make a new pair if others saw this one.':
    'Das ist ein privater Schlüssel. Er muss auf dem Spielserver bleiben: Füge den öffentlichen ein, und erzeuge ein neues Paar, falls andere diesen gesehen haben.',
  'The token is empty.': 'Das Token ist leer.',
  'This is a key, not a token: choose Votifier v1, or paste the token from the listener’s configuration.':
    'Das ist ein Schlüssel, kein Token: Wähle Votifier v1, oder füge das Token aus der Konfiguration des Listeners ein.',
  'This is an API token of this listing, not the vote plugin’s token: copy the one in the plugin’s own configuration.':
    'Das ist ein API-Token dieses Verzeichnisses, nicht das Token des Vote-Plugins: Kopiere das aus der Konfiguration des Plugins.',
  'A token has at most {max} characters.': 'Ein Token hat höchstens {max} Zeichen.',
  'The token has white space in it: paste the token alone.':
    'Das Token enthält Leerzeichen: Füge nur das Token ein.',
  'The token has invisible characters in it: type it by hand.':
    'Das Token enthält unsichtbare Zeichen: Tippe es von Hand.',
  'The URL must begin with https:// (or http://), like https://example.org/votes.':
    'Die URL muss mit https:// (oder http://) beginnen, etwa https://example.org/votes.',
  'The URL must have no user name and no password: votes are signed instead.':
    'Die URL darf keinen Nutzernamen und kein Passwort enthalten: Stimmen werden stattdessen signiert.',
  'The host of the URL cannot be read.': 'Der Host der URL ist nicht lesbar.',
  'choose a reason': 'wähle einen Grund',
  'must be a whole number, 1 to 5': 'muss eine ganze Zahl von 1 bis 5 sein',
  'port must be a whole number, 1 to 65535': 'der Port muss eine ganze Zahl von 1 bis 65535 sein',
  'port 22, 25, 465 and 587 are never a vote listener':
    'die Ports 22, 25, 465 und 587 sind nie ein Vote-Listener',
  'a vote is sent at most 1 to {max} times': 'eine Stimme wird höchstens 1- bis {max}-mal gesendet',
  'service name must not be empty': 'der Name des Dienstes darf nicht leer sein',
  'service name must have at most 64 characters': 'der Name des Dienstes darf höchstens 64 Zeichen haben',
  'service name must have no control characters': 'der Name des Dienstes darf keine Steuerzeichen haben',
  'choose one of these': 'wähle einen dieser Werte',
  'this user has a role already': 'dieser Nutzer hat schon eine Rolle',
  'a server has at most {most} members and invitations':
    'ein Server hat höchstens {most} Mitglieder und Einladungen',
  'must be an address that begins with https://, such as https://example.org':
    'muss eine Adresse sein, die mit https:// beginnt, etwa https://example.org',
  'must be an invite such as https://discord.gg/AbCdEf':
    'muss eine Einladung sein, etwa https://discord.gg/AbCdEf',
  '“{name}” is not a known language.': '„{name}“ ist keine bekannte Sprache.',
  'must be at most {most}': 'dürfen höchstens {most} sein',
  '“{tag}” is no longer in the list of tags.': '„{tag}“ steht nicht mehr in der Liste der Schlagwörter.',
  'must be a whole number, 1 to 65535': 'muss eine ganze Zahl von 1 bis 65535 sein',
  'must not be 22, 25, 465 or 587: these are for mail and remote shells':
    'darf nicht 22, 25, 465 oder 587 sein: Diese sind für Mail und Fernzugänge',
  'must have two letters (ISO 3166-1), such as DE': 'muss zwei Buchstaben haben (ISO 3166-1), etwa DE',
  'must be true or false': 'muss wahr oder falsch sein',
  'This address and port are listed already and have an owner. If the server is yours, ask the operator of this listing.':
    'Diese Adresse mit diesem Port ist schon gelistet und hat einen Besitzer. Gehört der Server dir, frage den Betreiber dieses Verzeichnisses.',
  'Another server is listed there. If it is yours, ask the operator of this listing.':
    'Dort ist ein anderer Server gelistet. Gehört er dir, frage den Betreiber dieses Verzeichnisses.',
  'You have listed this address and port already.': 'Du hast diese Adresse mit diesem Port schon gelistet.',
  'You have another draft of this address and port.':
    'Du hast einen anderen Entwurf mit dieser Adresse und diesem Port.',
  'This is where the server is already.': 'Dort ist der Server schon.',
  'Another server of yours is listed there.': 'Dort ist ein anderer Server von dir gelistet.',
  all: 'alle',
  'This is your e-mail address already.': 'Das ist schon deine E-Mail-Adresse.',
  'No game in the list is similar.': 'Kein Spiel in der Liste ist ähnlich.',
  'There is no game “{text}” in the list. {hint}': 'Das Spiel „{text}“ steht nicht in der Liste. {hint}',
  '{game} servers cannot be queried: {reason}.': 'Server von {game} lassen sich nicht abfragen: {reason}.',
  'A vote without an account needs JavaScript. Allow it for this page, or sign in with an account that is older than 7 days.':
    'Eine Stimme ohne Konto braucht JavaScript. Erlaube es für diese Seite, oder melde dich mit einem Konto an, das älter als 7 Tage ist.',
  'The proof of work cannot be read. Vote again.':
    'Der Arbeitsnachweis ist nicht lesbar. Stimme noch einmal ab.',
  'The proof of work was not made by this listing, or it was changed. Vote again.':
    'Der Arbeitsnachweis stammt nicht von diesem Verzeichnis, oder er wurde verändert. Stimme noch einmal ab.',
  'The proof of work has expired after 10 minutes. Vote again.':
    'Der Arbeitsnachweis ist nach 10 Minuten abgelaufen. Stimme noch einmal ab.',
  'The proof of work is for another server. Vote again.':
    'Der Arbeitsnachweis gilt für einen anderen Server. Stimme noch einmal ab.',
  'The proof of work is for another player. Vote again.':
    'Der Arbeitsnachweis gilt für einen anderen Spieler. Stimme noch einmal ab.',
  'The proof of work was made on another network. Vote again.':
    'Der Arbeitsnachweis entstand in einem anderen Netz. Stimme noch einmal ab.',
  'The proof of work is wrong. Vote again.': 'Der Arbeitsnachweis ist falsch. Stimme noch einmal ab.',
  'This proof of work was used already. If your vote does not count yet, vote again.':
    'Dieser Arbeitsnachweis wurde schon benutzt. Zählt deine Stimme noch nicht, stimme noch einmal ab.',
  'username is required and must be a string': 'der Spielername fehlt',
  'username must be valid Unicode: it has an unpaired surrogate or malformed percent-encoding':
    'der Spielername muss gültiges Unicode sein',
  'username must not be empty': 'der Spielername darf nicht leer sein',
  'username must have at most {max} characters': 'der Spielername darf höchstens {max} Zeichen haben',
  'username must not contain control characters': 'der Spielername darf keine Steuerzeichen enthalten',
  'username must have a visible character': 'der Spielername muss ein sichtbares Zeichen haben',
} as const satisfies Record<string, string>;
