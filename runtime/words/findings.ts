/** FINDING_WORDS: what is wrong with access that is there, in words; what each kind means is in contract/models/finding.ts. */
import { html } from 'hono/html'
import type { FindingKind } from '../contract/models/finding.ts'
import { inBoth } from './say.ts'

type Markup = ReturnType<typeof html>

const KINDS = {
  en: {
    ORPHAN_ACCOUNT: 'Account of an unknown person',
    LEAVER_ACCOUNT: 'Account of somebody who is suspended or has left',
    UNUSED_LICENCE: 'Licence unused for 90 days',
    DORMANT_PRIVILEGE: 'Privileged access unused for 90 days',
    SERVICE_ACCOUNT_WITHOUT_OWNER: 'Service account without an owner',
    UNEXPLAINED_ENTITLEMENT: 'Neither requested nor given by a policy',
    REAPPEARED: 'There again after a review removed it',
    SEPARATION_BROKEN: 'Both sides of a separation of duties',
    SYNC_STALE: 'The last complete sync is too old',
    CONNECTOR_OUTDATED: 'The connector is not the newest, or not served',
  },
  de: {
    ORPHAN_ACCOUNT: 'Konto von niemandem, der bekannt ist',
    LEAVER_ACCOUNT: 'Konto einer Person, die gesperrt oder gegangen ist',
    UNUSED_LICENCE: 'Lizenz, die seit 90 Tagen niemand nutzt',
    DORMANT_PRIVILEGE: 'Privilegierter Zugang, den seit 90 Tagen niemand nutzt',
    SERVICE_ACCOUNT_WITHOUT_OWNER: 'Dienstkonto ohne verantwortliche Person',
    UNEXPLAINED_ENTITLEMENT: 'Weder beantragt noch von einer Richtlinie vergeben',
    REAPPEARED: 'Wieder da, nachdem eine Überprüfung es entzogen hatte',
    SEPARATION_BROKEN: 'Beide Seiten einer Funktionstrennung',
    SYNC_STALE: 'Der letzte vollständige Abgleich ist zu alt',
    CONNECTOR_OUTDATED: 'Der Connector ist nicht der neueste, oder er wird nicht angeboten',
  },
} as const satisfies Record<'en' | 'de', Record<FindingKind, string>>

const STEPS: Record<'en' | 'de', Record<FindingKind, string>> = {
  en: {
    ORPHAN_ACCOUNT: 'Import the person, or remove the account in a review',
    LEAVER_ACCOUNT: 'Offboard the person, or close the account in the app',
    UNUSED_LICENCE: 'Ask the person to give it back, or remove it in a review',
    DORMANT_PRIVILEGE: 'Revoke it; it can be requested again, for a limited time',
    SERVICE_ACCOUNT_WITHOUT_OWNER: 'Find who is responsible for it, else close it',
    UNEXPLAINED_ENTITLEMENT: 'Ask the admins of the app who gave it, and why',
    REAPPEARED: 'Find out in the app who gave it again, and remove it there',
    SEPARATION_BROKEN: 'Take one side back, or accept it with a reason and an end',
    SYNC_STALE: 'See why its syncs fail, and start one',
    CONNECTOR_OUTDATED: 'Switch to the newest version, or install it again',
  },
  de: {
    ORPHAN_ACCOUNT: 'Die Person importieren, oder das Konto in einer Überprüfung entziehen',
    LEAVER_ACCOUNT: 'Die Person ausscheiden lassen, oder das Konto in der Anwendung schließen',
    UNUSED_LICENCE: 'Um Rückgabe bitten, oder sie in einer Überprüfung entziehen',
    DORMANT_PRIVILEGE: 'Entziehen; bei Bedarf lässt er sich für begrenzte Zeit beantragen',
    SERVICE_ACCOUNT_WITHOUT_OWNER: 'Herausfinden, wer verantwortlich ist, sonst schließen',
    UNEXPLAINED_ENTITLEMENT: 'Die Verwaltung der Anwendung fragen, wer es vergeben hat und warum',
    REAPPEARED: 'In der Anwendung herausfinden, wer es wieder vergeben hat, und es dort entziehen',
    SEPARATION_BROKEN: 'Eine Seite entziehen, oder es mit Begründung und Ende hinnehmen',
    SYNC_STALE: 'Nachsehen, warum die Abgleiche scheitern, und einen beginnen',
    CONNECTOR_OUTDATED: 'Zur neuesten Version wechseln, oder ihn erneut installieren',
  },
}

/** FINDING_WORDS: what pages of people say of a finding. */
export const FINDING_WORDS = {
  finding_kinds: KINDS,
  found_on: {
    en: (day: Markup) => html`Found on ${day}, and still so`,
    de: (day: Markup) => html`Am ${day} festgestellt, und noch immer so`,
  },
} as const

/** CONSOLE_FINDINGS: the words of the console about findings, and of accepting them. */
export const CONSOLE_FINDINGS = {
  findings: inBoth({
    en: {
      title: 'Findings',
      note: 'what is wrong, newest first',
      none: 'Nothing is found',
      noneText: 'Keyway looks after each complete sync, and once a day.',
      what: 'What is wrong',
      who: 'Of whom',
      since: 'Since',
      action: 'Action',
      nobody: 'No known person',
      severities: { LOW: 'Low', MEDIUM: 'Medium', HIGH: 'High' },
      steps: STEPS.en,
      acceptedUntil: (day: string) => `accepted until ${day}`,
      accept: {
        title: 'Accept the finding',
        lead: 'For what has to stay. It is open again on the day that you name, and the log keeps your reason.',
        link: 'Accept',
        button: 'Accept it',
        done: 'It is accepted.',
        until: 'Until',
        untilHelp: 'The last day, in UTC; at most a year from now.',
        line: (kind: string, day: string) => `“${kind}” is accepted until ${day}`,
      },
      reopen: {
        title: 'Open the finding again',
        lead: 'It is no longer accepted.',
        link: 'Open again',
        button: 'Open it again',
        done: 'It is open again.',
        line: (kind: string) => `“${kind}” is open again`,
      },
    },
    de: {
      title: 'Feststellungen',
      note: 'was nicht stimmt, das Neueste zuerst',
      none: 'Es ist nichts festgestellt',
      noneText: 'Keyway sieht nach jedem vollständigen Abgleich nach, und einmal am Tag.',
      what: 'Was nicht stimmt',
      who: 'Bei wem',
      since: 'Seit wann',
      action: 'Aktion',
      nobody: 'Niemand, der bekannt ist',
      severities: { LOW: 'Niedrig', MEDIUM: 'Mittel', HIGH: 'Hoch' },
      steps: STEPS.de,
      acceptedUntil: (day: string) => `hingenommen bis ${day}`,
      accept: {
        title: 'Feststellung hinnehmen',
        lead: 'Für das, was bleiben muss. An dem Tag, den Sie nennen, ist sie wieder offen; die Begründung steht im Protokoll.',
        link: 'Hinnehmen',
        button: 'Feststellung hinnehmen',
        done: 'Sie ist hingenommen.',
        until: 'Bis',
        untilHelp: 'Der letzte Tag, in UTC; höchstens ein Jahr von heute an.',
        line: (kind: string, day: string) => `„${kind}“ wird bis ${day} hingenommen`,
      },
      reopen: {
        title: 'Feststellung wieder öffnen',
        lead: 'Sie ist nicht mehr hingenommen.',
        link: 'Wieder öffnen',
        button: 'Feststellung wieder öffnen',
        done: 'Sie ist wieder offen.',
        line: (kind: string) => `„${kind}“ ist wieder offen`,
      },
    },
  }),
} as const
