/** CONSOLE_TABLES: what pages of the console say of rows of tables of the core: its English is the table's. */

import { SCOPE_GROUPS, type ScopeGroup } from '../contract/models/review-scope.ts'
import { ROLES, type RoleName } from '../contract/models/roles.ts'
import type { SyncPhase } from '../contract/models/sync.ts'
import { mapValues } from '../contract/schema/keys.ts'
import { inBoth } from './say.ts'

const TIMES_DE =
  '`2026-01-01/2026-03-31`, `2026-01-01/..`, `../2026-03-31` oder `P90D` für die letzten 90 Tage'

export const CONSOLE_TABLES = {
  sync_phases: inBoth<Record<SyncPhase, string>>({
    en: {
      begin: 'begin',
      accounts: 'accounts',
      resources: 'resources',
      entitlements: 'entitlements',
      associations: 'associations',
      activity: 'activity',
      judge: 'judge',
      accounts_gone: 'accounts gone',
      rest_gone: 'rest gone',
      match: 'match',
      people: 'people',
      managers: 'managers',
      groups: 'groups',
      leavers: 'leavers',
      tell: 'tell',
      permissions: 'permissions',
      expenses: 'expenses',
      end: 'end',
    },
    de: {
      begin: 'Beginn',
      accounts: 'Konten',
      resources: 'Ressourcen',
      entitlements: 'Berechtigungen',
      associations: 'Zuordnungen',
      activity: 'Nutzung',
      judge: 'Bewertung',
      accounts_gone: 'entfallene Konten',
      rest_gone: 'übriges Entfallenes',
      match: 'Zuordnung zu Personen',
      people: 'Personen',
      managers: 'Führungskräfte',
      groups: 'Gruppen',
      leavers: 'Ausgeschiedene',
      tell: 'Mitteilungen',
      permissions: 'Angebot im Katalog',
      expenses: 'Ausgaben',
      end: 'Ende',
    },
  }),
  role_meanings: inBoth<Record<RoleName, string>>({
    en: mapValues(ROLES, ({ meaning }) => meaning),
    de: {
      Admin: 'alles',
      'Read Only Admin':
        'liest alles; ändert nur, was alle dürfen: eigene Anfragen und zugewiesene Aufgaben',
      'AppStore Read Only Admin': 'liest den Katalog, auch verborgene Anwendungen',
      Auditor: 'liest Protokolle, Konten, Überprüfungen und Feststellungen',
      'App Admin': 'verwaltet die Anwendungen, für die sie eingetragen ist, und deren Aufgaben',
      'Access Review Administrator':
        'startet Zugriffsüberprüfungen, liest sie und schließt sie ab; entscheidet, wo sie selbst prüft',
      'Vendor Owner': 'für ältere Clients beibehalten; gibt keine Rechte',
      'Vendor Agreement Owner': 'für ältere Clients beibehalten; gibt keine Rechte',
      User: 'sich selbst, den Katalog, eigene Anfragen und zugewiesene Aufgaben',
    },
  }),
  scope_names: inBoth<Record<ScopeGroup, string>>({
    en: mapValues(SCOPE_GROUPS, ({ name }) => name),
    de: {
      ACCOUNT_ENTITLEMENT: 'Berechtigung',
      ENTITLEMENT_TAG: 'Art der Berechtigung',
      TEAM: 'Team der Person',
      EMPLOYMENT_STATUS: 'Zustand der Person',
      EMAIL_DOMAIN: 'Domain der Adresse',
      CATEGORIES: 'Kategorie des Kontos',
      ACCOUNT_DELTA: 'Änderung seit der letzten Überprüfung',
      ACCOUNT_STATUS: 'Zustand des Kontos',
      ACCOUNT_SOURCE: 'Herkunft des Kontos',
      SOD_POLICY: 'Funktionstrennung',
      ACCESS_GRANTED_AT: 'Vorhanden seit',
      ACCESS_REQUESTED_AT: 'Angefragt',
      ACCESS_APPROVED_AT: 'Genehmigt',
      ACCESS_PROVISIONED_AT: 'Auf Anfrage erhalten',
      ACCESS_LENGTH: 'Dauer des Zugangs',
      USER_OR_GROUP: 'Person oder Gruppe',
      UNMATCHED_ACCOUNTS: 'Konten ohne bekannte Person',
      LAST_LOGIN: 'Letzte Anmeldung',
      LAST_ACTIVITY: 'Letzte Nutzung',
      CUSTOM_ATTRIBUTE: 'Attribut der Person',
    },
  }),
  scope_keeps: inBoth<Record<ScopeGroup, string>>({
    en: mapValues(SCOPE_GROUPS, ({ keeps }) => keeps),
    de: {
      ACCOUNT_ENTITLEMENT:
        'diese Berechtigung, nach ihrer ID; bei einer Überprüfung von Konten die Konten, die sie haben',
      ENTITLEMENT_TAG:
        'Berechtigungen dieser Art oder mit einem der Merkmale `PRIVILEGED`, `LICENCE` (nach ihrem Namen) und `REQUESTABLE` (im Katalog)',
      TEAM: 'Personen, deren Attribut `team` das ist; fehlt es, deren `department`',
      EMPLOYMENT_STATUS: 'Personen in diesem Zustand',
      EMAIL_DOMAIN: 'Konten mit einer Adresse dieser Domain',
      CATEGORIES: 'Konten dieser Art: `USER`, `ROLE` oder `SERVICE`',
      ACCOUNT_DELTA:
        '`NEW`: was bei der letzten Überprüfung der Anwendung fehlte; `CHANGED`: was da war, bei Konten, deren Person, Zustand oder Adresse sich seitdem geändert hat; `UNCHANGED`: der Rest',
      ACCOUNT_STATUS: 'Konten in diesem Zustand',
      ACCOUNT_SOURCE: 'Konten, die diese Quelle gemeldet hat',
      SOD_POLICY:
        'Personen, die gegen diese Regel verstoßen, nach ihrer ID, solange sie in Kraft ist',
      ACCESS_GRANTED_AT: `was seit einer Zeit vorhanden ist: ${TIMES_DE}`,
      ACCESS_REQUESTED_AT: 'was durch eine Anfrage aus dieser Zeit erhalten wurde',
      ACCESS_APPROVED_AT:
        'was durch eine Anfrage erhalten wurde, deren letzte Genehmigung aus dieser Zeit ist; ohne nötige Genehmigung zählt der Zeitpunkt der Anfrage',
      ACCESS_PROVISIONED_AT: 'was in dieser Zeit durch eine Anfrage erhalten wurde',
      ACCESS_LENGTH:
        'was durch eine Anfrage für diese Dauer erhalten wurde: `30 days`, `Unlimited` und so weiter',
      USER_OR_GROUP: 'diese Person oder die Mitglieder dieser Gruppe, nach ID',
      UNMATCHED_ACCOUNTS: 'Konten ohne bekannte Person',
      LAST_LOGIN: 'Konten mit letzter Anmeldung nicht vor `after` und nicht nach `before`',
      LAST_ACTIVITY: 'Konten mit letzter Nutzung nicht vor `after` und nicht nach `before`',
      CUSTOM_ATTRIBUTE: 'Personen, deren Attribut `name` das ist',
    },
  }),
} as const
