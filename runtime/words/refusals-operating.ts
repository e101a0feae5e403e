/** OPERATING_GERMAN: what operators and admins of apps are refused, as rows of REFUSALS_SAID. */
export const OPERATING_GERMAN = {
  'There is no such run; see keyway syncs': 'Diesen Lauf gibt es nicht; siehe keyway syncs',
  'The run is {}; only a RUNNING run can be cancelled':
    'Der Lauf ist {}; abbrechen lässt sich nur einer, der RUNNING ist',
  'The run is {}; only a STOPPED run can be accepted':
    'Der Lauf ist {}; darauf wartet nur einer, der STOPPED ist',
  'Run {} of the app has started since; its result counts':
    'Seitdem hat der Lauf {} der Anwendung begonnen; es zählt, was er findet',
  'The app was disconnected; connect it and start another sync':
    'Die Anwendung wurde getrennt; verbinden Sie sie und starten Sie einen neuen Abgleich',
  '{} ({}) is the identity source; set its identity_source to null first':
    '{} ({}) ist schon die Quelle der Personen; heben Sie das dort zuerst auf',
  'This app is not connected; connect it with PUT /apps/{}':
    'Diese Anwendung ist nicht verbunden; verbinden Sie sie zuerst',
  'The connector {} is not served at the moment; see keyway list':
    'Der Connector {} ist gerade nicht verfügbar; siehe keyway list',
  'The connector {} cannot list accounts': 'Der Connector {} kann keine Konten auflisten',
  'A sync of this app is already running': 'Ein Abgleich dieser Anwendung läuft schon',
  'The app was disconnected or reconnected in the meantime; try again':
    'Die Anwendung wurde inzwischen getrennt oder neu verbunden; versuchen Sie es noch einmal',
  'The permission comes from the app itself; only those of type NATIVE can be deleted. Hide it instead':
    'Die Berechtigung kommt aus der Anwendung selbst; löschen lassen sich nur eigene. Verbergen Sie sie stattdessen',
  'The pre-approval rule {} names the permission; change or delete the rule first':
    'Die Regel {} für Genehmigungen im Voraus nennt die Berechtigung; ändern oder löschen Sie zuerst die Regel',
  'Licence not found': 'Diese Lizenz gibt es nicht',
  'Price not found': 'Diesen Preis gibt es nicht',
  'Integration not found': 'Diese Integration gibt es nicht',
  'The user does not have the role {}': 'Diese Person hat die Rolle {} nicht',
  'Role not found; the roles are {}': 'Diese Rolle gibt es nicht; es gibt {}',
  'scheduled_at is in the past; leave it out to offboard at once':
    'Der Tag ist vorbei; wählen Sie einen, der noch kommt, oder „Jetzt“',
  'This person cannot be erased yet: {}': 'Diese Person lässt sich noch nicht löschen: {;}',
  'the host created this user for its operator; it is not a person':
    'Keyway hat sie für den Betrieb angelegt, sie ist kein Mensch',
  'the user is {}: offboard the person first':
    'sie ist {}: führen Sie zuerst den Austritt der Person aus',
  'an offboarding is in progress: wait until it ends':
    'ein Austritt läuft: warten Sie, bis er beendet ist',
  'access reviews are in progress: wait for the end of {}, or delete them':
    'Zugriffsüberprüfungen laufen: warten Sie das Ende von {} ab, oder löschen Sie sie',
  '{} access requests are not finished: deny, cancel or end them, or offboard the person first':
    'offene Anfragen: {}; lehnen Sie sie ab, ziehen oder nehmen Sie sie zurück, oder führen Sie zuerst den Austritt der Person aus',
  'the person still has accounts in {}: delete them in these systems and sync the apps; a sync would bring the person back':
    'die Person hat noch Konten in {}: löschen Sie sie dort und gleichen Sie die Anwendungen ab; sonst bringt ein Abgleich die Person zurück',
  'The offboarding is {}; only one that is SCHEDULED can be cancelled':
    'Der Austritt ist {}; abbrechen lässt sich nur einer, der SCHEDULED ist',
  'There is no user {}': 'Die Person {} gibt es nicht',
  'A task that is {} cannot become {}': 'Eine Aufgabe, die {} ist, kann nicht {} werden',
  '{} lines are open; have them decided, or end the review with POST /access_reviews/{}/complete':
    '{} Zeilen sind offen; lassen Sie sie entscheiden, oder schließen Sie die Überprüfung ab',
  '{} lines are open; the task closes once you have decided them with POST /access_reviews/{access_review_id}/items/decide':
    '{} Zeilen sind offen; sind sie entschieden, ist auch die Aufgabe erledigt',
  'The access review is {}; it has already been launched':
    'Die Zugriffsüberprüfung ist {}; ihr Start ist vorbei',
  'The line is already {}': 'Die Zeile ist schon {}',
  'Decisions for its app have ended': 'Die Entscheidungen über diese Anwendung sind abgeschlossen',
  'Name the lines that you review or remove in item_ids':
    'Nennen Sie die Zeilen, die Sie prüfen oder entziehen',
  'This host is already sending {} files of evidence; try again later':
    'Dieser Host sendet schon {} Nachweise; versuchen Sie es noch einmal',
  'This host is already sending {} lists as CSV; try again soon':
    'Dieser Host sendet schon {} Listen als CSV; versuchen Sie es gleich noch einmal',
  'a lumos_expression cannot be evaluated here: write the condition with operators, or keep the policy a draft':
    'eine lumos_expression lässt sich hier nicht auswerten: schreiben Sie die Bedingung mit Operatoren, oder lassen Sie die Richtlinie ein Entwurf',
  'needed, unless is_everyone_condition is true':
    'eine Bedingung fehlt; ohne sie gilt die Richtlinie nur, wenn sie für alle ist',
  'the app is already listed': 'die Anwendung steht schon da',
  'there is no such app': 'diese Anwendung gibt es nicht',
  'It is in use: {}. Remove it there first':
    'Er wird verwendet: {}. Nehmen Sie ihn dort zuerst heraus',
  'No mail server is set: set KEYWAY_MAIL_SERVER and restart the host':
    'Es ist kein Mailserver gesetzt: setzen Sie KEYWAY_MAIL_SERVER und starten Sie den Host neu',
  'The form has more than {} parts': 'Das Formular hat mehr als {} Teile',
  'The form cannot be read; send the form that the page has':
    'Das Formular lässt sich nicht lesen; senden Sie das Formular der Seite',
  'There is no installed connector {}': 'Der Connector {} ist nicht installiert',
  '{} {} is installed with other content ({}): a version never changes; give the new content another version':
    '{} {} ist mit anderem Inhalt ({}) installiert: eine Version ändert sich nie; geben Sie dem neuen Inhalt eine andere Version',
  '{} {} serves, {} is older: roll back to a generation that served it, or activate it with allow_downgrade':
    '{} {} ist aktiv, {} ist älter: rollen Sie auf eine Generation zurück, in der sie aktiv war, oder aktivieren Sie sie mit allow_downgrade',
  '{} has no installed version with the digest {}; upload its package first':
    '{} hat keine installierte Version mit dem Digest {}; laden Sie zuerst ihr Paket hoch',
  '{} {} is signed by a key that is trusted no more; install a version that a trusted publisher has signed':
    '{} {} ist mit einem Schlüssel signiert, dem nicht mehr vertraut wird; installieren Sie eine Version eines vertrauten Herausgebers',
  '{} is neither installed nor disabled': '{} ist weder installiert noch ausgeschaltet',
  'Nothing of that is granted to {}': 'Davon ist {} nichts freigegeben',
  'There is no trusted key {}': 'Dem Schlüssel {} wird nicht vertraut',
  'The newest generation is {}, not {}: what is installed was changed meanwhile; look at it and try again':
    'Die neueste Generation ist {}, nicht {}: die Installation wurde inzwischen geändert; sehen Sie nach und versuchen Sie es noch einmal',
  'There is no generation {}': 'Die Generation {} gibt es nicht',
  'Publisher not found': 'Diesen Herausgeber gibt es nicht',
  'The index has the version {}, which is to come':
    'Das Verzeichnis hat die Version {}, die in der Zukunft liegt',
  'Connector not found': 'Diesen Connector gibt es nicht',

  // What else a page can show.
  'You are not signed in': 'Sie sind nicht angemeldet',
  'The session has ended': 'Die Sitzung ist beendet',
  'This token is read-only': 'Dieses Token darf nur lesen',
  'Too many requests; see Retry-After': 'Zu viele Anfragen; warten Sie etwas',
  'There is no connector {}': 'Den Connector {} gibt es nicht',
  'There is no such generation': 'Diese Generation gibt es nicht',
  'Nothing has that name': 'So heißt nichts',
  'No registry is configured: set KEYWAY_REGISTRY to an https:// address or a folder, and restart the host':
    'Es ist kein Verzeichnis von Connectors gesetzt: setzen Sie KEYWAY_REGISTRY auf eine https://-Adresse oder einen Ordner, und starten Sie den Host neu',
  'No registry can be used: {}': 'Kein Verzeichnis von Connectors lässt sich verwenden: {}',
  'Name at least one user or group': 'Nennen Sie mindestens eine Person oder Gruppe',
  'A line cannot be confirmed by the person who kept it; name another person':
    'Wer die Zeile behalten hat, kann sie nicht selbst bestätigen; nennen Sie eine andere Person',
  'None of them can review it: they have left, it is their own access, or they kept it before':
    'Niemand davon kann sie prüfen: Die Personen sind nicht mehr da, es ist ihr eigener Zugang, oder sie haben ihn schon behalten',
  'People who approved or carried out the request for this access do not review it while another reviewer is left; name another person':
    'Wer die Anfrage genehmigt oder ausgeführt hat, prüft diesen Zugang nur, wenn sonst niemand bleibt; nennen Sie eine andere Person',
  'A file is required as evidence of the removal: attach one with POST /access_reviews/{}/evidence/uploads and "item_ids":["{}"]':
    'Das Entziehen braucht eine Datei als Nachweis: fügen Sie der Zeile zuerst eine Datei an',
  'Rejected access in this app is already being removed':
    'Der abgelehnte Zugang in dieser Anwendung wird schon entzogen',
  'The app has no webhook that revokes access; name one as access_removal_inline_webhook in PATCH /appstore/apps/{}/settings, or in a permission':
    'Die Anwendung hat keinen Webhook, der Zugang entzieht; benennen Sie einen in der Anwendung oder in einer Berechtigung',
  'The access review is COMPLETED; create another one':
    'Die Zugriffsüberprüfung ist abgeschlossen; legen Sie eine neue an',
  '{} must be in the future': '{} muss in der Zukunft liegen',
  'App of the access review not found': 'Diese Anwendung gibt es in der Zugriffsüberprüfung nicht',
  'Several actions lead to this status; use perform-action':
    'Mehrere Aktionen führen in diesen Zustand; wählen Sie eine auf der Seite der Aufgabe',
  '{} of your uploads are waiting to be processed; send the next one when one of them is done':
    '{} Ihrer Dateien warten noch; senden Sie die nächste, wenn eine davon verarbeitet ist',
  'Too many uploads at once; nothing was done, try again':
    'Zu viele Dateien auf einmal; es wurde nichts getan, versuchen Sie es noch einmal',
  'This app is not managed by the API; use PATCH to change how it is shown':
    'Diese Anwendung wird nicht hier verwaltet; ändern lässt sich nur, wie sie gezeigt wird',
  'This is a custom app: it takes no auth, settings or version':
    'Das ist eine eigene Anwendung: Sie hat weder Zugangsdaten noch Einstellungen oder Version',
  'These credentials belong to another tenant ({}) than this app’s ({}); connect that tenant with POST /apps':
    'Diese Zugangsdaten gehören zu einem anderen Mandanten ({}) als die Anwendung ({}); verbinden Sie ihn als weitere Anwendung',
  '{} returned no address for giving consent': '{} nennt keine Adresse für die Einwilligung',
  '{} declares no OAuth for this credential': '{} sieht für diese Zugangsdaten kein OAuth vor',
  '{} did not answer within {} seconds': '{} hat nicht innerhalb von {} Sekunden geantwortet',
  '{} rejected these credentials as invalid': '{} hat diese Zugangsdaten als ungültig abgelehnt',
  'auth: send it again: {} would send the stored credentials to another place than the one they were given for':
    'Geben Sie die Zugangsdaten noch einmal ein: {} würde die gespeicherten an eine andere Stelle senden als die, für die sie gegeben wurden',
  'The integration {} returned no usable tenant id':
    'Die Integration {} nennt keinen brauchbaren Mandanten',
  'The app is already in the app store; change it with PATCH /appstore/apps/{app_id}/settings':
    'Die Anwendung kann man schon beantragen; ändern Sie, was dafür eingestellt ist',
  'This needs the permission {}{}, which none of your roles has': 'Keine Ihrer Rollen erlaubt das',
  '{}; a pre-approval rule that covers it needs no approver':
    '{}; eine Regel für Genehmigungen im Voraus käme ohne Genehmigende aus',
  'The scope of an app cannot be changed once its lines have been created':
    'Der Umfang einer Anwendung steht fest, sobald ihre Zeilen angelegt sind',
  'target_launch_date must be before deadline_at': 'Der Start muss vor der Frist liegen',
  'Name the lines, either by item_ids or by a filter':
    'Wählen Sie die Zeilen aus, oder nennen Sie einen Filter',
  'There are already {} rules; delete one, or merge its sides into another':
    'Es gibt schon {} Regeln; löschen Sie eine, oder fassen Sie sie mit einer anderen zusammen',
  'This app already exists{}: {}, instance {}; change its connection with PUT /apps/{app_id} instead':
    'Diese Anwendung gibt es schon; ändern Sie stattdessen ihre Verbindung',
  'Pre-approval rule not found': 'Diese Regel für Genehmigungen im Voraus gibt es nicht',
  'The users changed during the import; import the file again':
    'Die Personen haben sich währenddessen geändert; senden Sie die Datei noch einmal',
  'Another import is running; try again when it has finished':
    'Eine andere Datei wird gerade eingelesen; versuchen Sie es danach noch einmal',
} as const
