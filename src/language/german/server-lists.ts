/** Texts of the home page, the lists of servers, and the pages of games and tags. */
export const SERVER_LISTS = {
  'Mine, build and survive in a world of blocks.': 'Graben, bauen und überleben in einer Welt aus Blöcken.',
  'The world of blocks for phones, consoles and Windows.':
    'Die Welt aus Blöcken für Handys, Konsolen und Windows.',
  'Free voxel worlds with games and mods by their players.':
    'Freie Voxelwelten mit Spielen und Mods von denen, die sie spielen.',
  'Gather, build and raid on an island where nobody is safe.':
    'Sammeln, bauen und überfallen auf einer Insel, auf der niemand sicher ist.',
  'Viking survival for small groups: sail, build, and face the bosses.':
    'Überleben als Wikinger in kleinen Gruppen: segeln, bauen und die Bosse besiegen.',
  'Dig, fight and build in a world seen from the side.':
    'Graben, kämpfen und bauen in einer Welt von der Seite.',
  'Automate a factory that never stops growing.': 'Automatisiere eine Fabrik, die immer weiter wächst.',
  'Build factories in the first person on an alien planet.':
    'Baue aus der Ich-Perspektive Fabriken auf einem fremden Planeten.',
  'Two teams, one bomb, and rounds of two minutes.': 'Zwei Teams, eine Bombe und Runden von zwei Minuten.',
  'The classic of tactical shooters: two teams and one bomb.':
    'Der Klassiker der taktischen Shooter: zwei Teams und eine Bombe.',
  'The Source engine’s Counter-Strike, loved for surf and zombie maps.':
    'Counter-Strike mit der Source-Engine, beliebt für Surf- und Zombie-Karten.',
  'The original Counter-Strike, still played every evening.':
    'Das erste Counter-Strike, noch immer jeden Abend gespielt.',
  'Nine classes, two teams, and a great many hats.': 'Neun Klassen, zwei Teams und sehr viele Hüte.',
  'A sandbox for whatever its players invent, from role play to Prop Hunt.':
    'Ein Sandkasten für alles, was sich jemand ausdenkt, vom Rollenspiel bis zu Prop Hunt.',
  'Tame dinosaurs, found a tribe and survive.': 'Zähme Dinosaurier, gründe einen Stamm und überlebe.',
  'The remake of ARK: tame dinosaurs, found a tribe and survive.':
    'Die Neuauflage von ARK: Zähme Dinosaurier, gründe einen Stamm und überlebe.',
  'Loot and build by day, and hold out on every seventh night.':
    'Am Tag plündern und bauen, in jeder siebten Nacht durchhalten.',
  'Scavenge and survive after an outbreak, among players you cannot trust.':
    'Suche Vorräte und überlebe nach einer Seuche, unter Leuten, denen du nicht trauen kannst.',
  'Slow zombies, scarce food, and a story of how you died.':
    'Langsame Zombies, knappes Essen und die Geschichte deines Todes.',
  'Catch creatures, and let them fight and work for you.':
    'Fange Wesen und lass sie für dich kämpfen und arbeiten.',
  'Survive, build and conquer in the lands of Conan.':
    'Überleben, bauen und erobern in den Ländern von Conan.',
  'Zombie survival with simple looks and a lot of freedom.':
    'Überleben unter Zombies, mit einfachem Aussehen und viel Freiheit.',
  'Explore, build and fight together in a land under a deadly fog.':
    'Gemeinsam erkunden, bauen und kämpfen in einem Land unter tödlichem Nebel.',
  'Live as a vampire: hunt at night, hide from the sun, raise a castle.':
    'Lebe als Vampir: Jage bei Nacht, meide die Sonne, baue ein Schloss.',
  'Large battles in which squads and their radios decide.':
    'Große Schlachten, in denen Trupps und ihre Funkgeräte entscheiden.',
  'Military simulation on large open maps.': 'Militärsimulation auf großen offenen Karten.',
  'Role play and races in Los Santos on servers of their own.':
    'Rollenspiel und Rennen in Los Santos auf eigenen Servern.',
  'San Andreas together: role play, races and stunts.':
    'San Andreas gemeinsam: Rollenspiel, Rennen und Stunts.',
  'Find a server worth coming back to.': 'Finde einen Server, auf den du gern zurückkommst.',
  'Search servers': 'Server suchen',
  'Name, tag or address': 'Name, Schlagwort oder Adresse',
  '<b>{players}</b> playing now': '<b>{players}</b> spielen gerade',
  '<b>{votes}</b> votes in {days} days': '<b>{votes}</b> Stimmen in {days} Tagen',
  'Most listed games': 'Spiele mit den meisten Servern',
  'All tags': 'Alle Schlagwörter',
  Top: 'Rang',
  Filters: 'Filter',
  '{active} set': '{active} gesetzt',
  Close: 'Schließen',
  View: 'Ansicht',
  Cards: 'Karten',
  'Compact list': 'Kompakte Liste',
  New: 'Neu',
  'seen {when}': 'zuletzt {when}',
  'No answer now': 'Antwortet gerade nicht',
  'Not checked': 'Nicht geprüft',
  'Players hidden': 'Spielerzahl verborgen',
  playing: 'spielen',
  'Previous page': 'Vorige Seite',
  'Next page': 'Nächste Seite',
  'New this month': 'Neu in diesem Monat',
  'Tags of {game} servers': 'Schlagwörter der {game}-Server',
  '{game} servers by country': '{game}-Server nach Land',
  '{tag} servers by game': '{tag}-Server nach Spiel',
  'Other tags': 'Andere Schlagwörter',
  'Servers that their owners tagged “{tag}”, ranked by the votes of players.':
    'Server, die mit „{tag}“ gekennzeichnet sind, geordnet nach den Stimmen der Spieler.',
  '{game} servers, ranked by the votes of players.': '{game}-Server, geordnet nach den Stimmen der Spieler.',
  'All games with listed servers, those with the most first.':
    'Alle Spiele mit gelisteten Servern, die mit den meisten zuerst.',
  'What kind of server do you look for? Owners chose these tags for their servers.':
    'Was für einen Server suchst du? Diese Schlagwörter wurden für die Server gewählt.',
  'No {of} server is listed yet. Add one in two minutes: enter its address and verify that you own it.':
    'Noch ist kein {of}-Server gelistet. Füge in zwei Minuten einen hinzu: Gib seine Adresse ein und zeige, dass er dir gehört.',
  'No server matches all of these filters. Remove a filter, or see all servers.':
    'Kein Server passt zu allen diesen Filtern. Entferne einen Filter oder sieh dir alle Server an.',
} as const;
