/** REGISTRY_WORDS: what is published in a registry, and how it is installed from there. */
export const REGISTRY_WORDS = {
  registry: { en: 'Registry', de: 'Verzeichnis' },
  registry_title: { en: 'Published connectors', de: 'Veröffentlichte Connectors' },
  registry_lead: {
    en: (address: string, publisher: string) => `From ${address}, signed by ${publisher}.`,
    de: (address: string, publisher: string) => `Aus ${address}, signiert von ${publisher}.`,
  },
  registry_away: { en: 'The registry cannot be used', de: 'Das Verzeichnis ist nicht nutzbar' },
  registry_unset: { en: 'No registry is named', de: 'Kein Verzeichnis ist benannt' },
  registry_unset_text: {
    en: 'Set KEYWAY_REGISTRY to an https:// address or a folder, and restart the host. Then this page lists the connectors published there.',
    de: 'Setzen Sie KEYWAY_REGISTRY auf eine https://-Adresse oder einen Ordner und starten Sie den Host neu. Dann zeigt diese Seite, was dort veröffentlicht ist.',
  },
  registry_how: { en: 'How to set up a registry', de: 'So wird ein Verzeichnis eingerichtet' },
  registry_columns: {
    en: ['Connector', 'Newest', 'Serves here', 'Action'],
    de: ['Connector', 'Neueste', 'Läuft hier', 'Aktion'],
  },
  registry_find: { en: 'Words', de: 'Wörter' },
  registry_outdated: {
    en: 'Only outdated and withdrawn ones',
    de: 'Nur Veraltetes und Zurückgezogenes',
  },
  registry_all: { en: 'Show all', de: 'Alle zeigen' },
  registry_is_old: { en: 'Outdated', de: 'Veraltet' },
  registry_withdrawn: { en: 'Withdrawn', de: 'Zurückgezogen' },
  registry_none: { en: 'Nothing found', de: 'Nichts gefunden' },
  registry_none_text: {
    en: 'Nothing that is published fits this.',
    de: 'Nichts Veröffentlichtes passt dazu.',
  },
  registry_not_here: { en: 'does not run here', de: 'läuft hier nicht' },
  registry_nowhere: { en: 'not installed', de: 'nicht installiert' },
  registry_look: { en: 'Install', de: 'Installieren' },
  registry_upgrade: { en: 'Upgrade', de: 'Aktualisieren' },
  published_lead: {
    en: 'The package is fetched, checked and kept. No call goes to it before you let it serve.',
    de: 'Das Paket wird geholt, geprüft und aufbewahrt. Kein Aufruf geht an es, bevor Sie es freigeben.',
  },
  published_package: { en: 'Package', de: 'Paket' },
  published_version: { en: 'Version', de: 'Version' },
  published_withdrawn: { en: 'Withdrawn versions', de: 'Zurückgezogene Versionen' },
  published_withdrawn_note: {
    en: 'They can no longer be installed from the registry.',
    de: 'Sie lassen sich nicht mehr aus dem Verzeichnis installieren.',
  },
  published_withdrawn_on: { en: 'Withdrawn:', de: 'Zurückgezogen:' },
  published_serves_withdrawn: {
    en: (id: string, version: string) => `${id} ${version} serves here, and is withdrawn`,
    de: (id: string, version: string) => `${id} ${version} läuft hier und ist zurückgezogen`,
  },
  published_serves_withdrawn_text: {
    en: 'It keeps serving. Activate another version, or disable the connector.',
    de: 'Sie läuft weiter. Aktivieren Sie eine andere Version, oder schalten Sie den Connector aus.',
  },
  published_not_signed: { en: 'without a signature', de: 'ohne Signatur' },
  published_changed: {
    en: 'The connector has changed hands',
    de: 'Der Connector hat den Herausgeber gewechselt',
  },
  published_why: { en: 'Why', de: 'Warum' },
  published_keep: { en: 'Check and keep it', de: 'Prüfen und aufbewahren' },
  published_check: { en: 'Only check it', de: 'Nur prüfen' },
  published_not_kept: { en: 'It was not kept', de: 'Es wurde nicht aufbewahrt' },
  published_passes: {
    en: (id: string, version: string) => `${id} ${version} passes its checks`,
    de: (id: string, version: string) => `${id} ${version} besteht die Prüfungen`,
  },
  published_kept: {
    en: 'It is kept. No call goes to it yet.',
    de: 'Aufbewahrt. Noch geht kein Aufruf dorthin.',
  },
} as const
