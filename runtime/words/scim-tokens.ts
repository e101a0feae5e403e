/** SCIM_TOKEN_WORDS: tokens of identity providers, and credentials that new versions of a connector are tried with. */
export const SCIM_TOKEN_WORDS = {
  scim_tokens: { en: 'SCIM tokens', de: 'SCIM-Tokens' },
  scim_lead: {
    en: 'An identity provider that has one of these tokens pushes people and groups to Keyway. A token opens the SCIM address and nothing else.',
    de: 'Ein Identitätsanbieter, der eines dieser Tokens hat, überträgt Personen und Gruppen an Keyway. Ein Token öffnet nur die SCIM-Adresse, sonst nichts.',
  },
  scim_address: { en: 'SCIM address', de: 'SCIM-Adresse' },
  scim_how: {
    en: 'How to set up Entra ID and Okta',
    de: 'So richten Sie Entra ID und Okta ein (auf Englisch)',
  },
  scim_name_help: {
    en: 'The identity provider that will use it.',
    de: 'Der Identitätsanbieter, der es benutzen wird.',
  },
  scim_none: { en: 'No tokens yet', de: 'Noch keine Tokens' },
  scim_none_text: {
    en: 'Make one, and enter it with the SCIM address at your identity provider.',
    de: 'Erstellen Sie eines und tragen Sie es mit der SCIM-Adresse bei Ihrem Identitätsanbieter ein.',
  },
  scim_columns: {
    en: ['Name', 'Token', 'Created', 'Last used', 'Expires', 'State'],
    de: ['Name', 'Token', 'Erstellt', 'Zuletzt genutzt', 'Läuft ab', 'Zustand'],
  },
  scim_ended: {
    en: 'The token is revoked.',
    de: 'Das Token ist widerrufen.',
  },
  scim_revoke_text: {
    en: 'The identity provider is refused from then on. People and groups stay as they are. This cannot be undone.',
    de: 'Der Identitätsanbieter wird ab dann abgewiesen. Personen und Gruppen bleiben, wie sie sind. Das lässt sich nicht rückgängig machen.',
  },
  probe_title: {
    en: (id: string) => `Credentials to try new versions of ${id} with`,
    de: (id: string) => `Zugangsdaten, mit denen neue Versionen von ${id} erprobt werden`,
  },
  probe_lead: {
    en: 'Before calls go to a new version, it checks these credentials. They are kept sealed and are never shown.',
    de: 'Bevor Aufrufe an eine neue Version gehen, prüft sie diese Zugangsdaten. Sie werden versiegelt aufbewahrt und nie gezeigt.',
  },
  probe_label: { en: 'Credentials, as JSON', de: 'Zugangsdaten als JSON' },
  probe_help: {
    en: 'The members auth or credentials, and settings: as a call of the connector has them.',
    de: 'Die Felder auth oder credentials und settings, wie in einem Aufruf des Connectors.',
  },
  probe_keep: { en: 'Keep these credentials', de: 'Diese Zugangsdaten aufbewahren' },
  probe_replaces: {
    en: 'Credentials are already stored. These replace them.',
    de: 'Es sind schon Zugangsdaten aufbewahrt. Diese treten an ihre Stelle.',
  },
  probe_kept: {
    en: 'New versions are tried with these credentials.',
    de: 'Neue Versionen werden mit diesen Zugangsdaten erprobt.',
  },
  probe_not_kept: { en: 'They were not kept', de: 'Sie wurden nicht aufbewahrt' },
  probe_no_json: {
    en: 'This is not JSON. Write an object such as the example.',
    de: 'Das ist kein JSON. Schreiben Sie ein Objekt wie im Beispiel.',
  },
  probe_form: {
    en: 'Write an object with auth or credentials, and settings, and nothing else.',
    de: 'Schreiben Sie ein Objekt mit auth oder credentials und settings, und sonst nichts.',
  },
  probe_cancel: { en: 'Cancel', de: 'Abbrechen' },
} as const
