/** CONSOLE_STORE: the words of how an app is asked for, and of its permissions. */
import { mapValues } from '../contract/schema/keys.ts'
import type { Language } from './languages.ts'
import { inBoth } from './say.ts'

type FieldWords = readonly [label: string, help?: string]

/** Fields of the form, each in both languages. */
const FIELDS = {
  in_store: {
    en: ['People may ask for it', 'Otherwise it is not in the store.'],
    de: ['Sie kann beantragt werden', 'Sonst steht sie nicht im Katalog.'],
  },
  discoverability: { en: ['Who finds it in the store'], de: ['Wer sie im Katalog findet'] },
  allowed_groups: {
    en: ['Groups that may ask', 'The name of one group on each line. Empty: everyone.'],
    de: ['Gruppen, die sie beantragen können', 'In jeder Zeile der Name einer Gruppe. Leer: alle.'],
  },
  admins: {
    en: [
      'Who looks after it',
      'One e-mail address or name of a group on each line. They get its tasks. Who has the role App Admin also sees and changes this app.',
    ],
    de: [
      'Wer für sie zuständig ist',
      'In jeder Zeile eine E-Mail-Adresse oder der Name einer Gruppe. Sie bekommen die Aufgaben dieser Anwendung. Wer die Rolle App Admin hat, sieht und ändert sie auch.',
    ],
  },
  manager: {
    en: ['The manager of the person decides first'],
    de: ['Die Führungskraft der Person entscheidet zuerst'],
  },
  approvers: {
    en: ['Who decides', 'One e-mail address or name of a group on each line.'],
    de: ['Wer entscheidet', 'In jeder Zeile eine E-Mail-Adresse oder der Name einer Gruppe.'],
  },
  approvers_2: {
    en: ['Who decides after them', 'As above. Empty: nobody does.'],
    de: ['Wer danach entscheidet', 'Wie oben. Leer: niemand.'],
  },
  lengths: {
    en: ['How long access may last', 'What people can choose from. Nothing ticked: all of these.'],
    de: ['Wie lange der Zugang dauern kann', 'Was zur Auswahl steht. Nichts angekreuzt: alle.'],
  },
  instructions: {
    en: ['What people read before they ask'],
    de: ['Was man liest, bevor man anfragt'],
  },
  by_hand: { en: ['Something has to be done by hand'], de: ['Etwas ist von Hand zu tun'] },
  by_hand_how: { en: ['What is to be done by hand'], de: ['Was von Hand zu tun ist'] },
} as const satisfies Record<string, Record<Language, FieldWords>>

export const CONSOLE_STORE = {
  store_change: inBoth({
    en: {
      link: 'Requests and owners',
      title: 'How people ask for this app',
      lead: 'Who looks after it, who finds it, who decides, and how long access may last.',
      button: 'Save it',
      done: 'It is saved.',
      yes: 'yes',
      no: 'no',
      finders: {
        FULL: 'Everybody',
        LIMITED: 'Members of the groups named below',
        NONE: 'Nobody',
      },
      fields: mapValues(FIELDS, ({ en }): FieldWords => en),
      line: (name: string, from: string, to: string) =>
        from === '' ? `${name}: ${to}` : `${name}: ${from} → ${to === '' ? '–' : to}`,
      noPerson: (text: string) => `No known person, or more than one, is “${text}”`,
      noGroup: (text: string) => `No group, or more than one, is called “${text}”`,
    },
    de: {
      link: 'Anfragen und Zuständige',
      title: 'So wird diese Anwendung beantragt',
      lead: 'Wer für sie zuständig ist, wer sie findet, wer entscheidet und wie lange der Zugang dauern kann.',
      button: 'Speichern',
      done: 'Gespeichert.',
      yes: 'ja',
      no: 'nein',
      finders: {
        FULL: 'Alle',
        LIMITED: 'Mitglieder der unten genannten Gruppen',
        NONE: 'Niemand',
      },
      fields: mapValues(FIELDS, ({ de }): FieldWords => de),
      line: (name: string, from: string, to: string) =>
        from === '' ? `${name}: ${to}` : `${name}: ${from} → ${to === '' ? '–' : to}`,
      noPerson: (text: string) => `Keine bekannte oder mehr als eine Person ist „${text}“`,
      noGroup: (text: string) => `Keine oder mehr als eine Gruppe heißt „${text}“`,
    },
  }),
  permission_change: inBoth({
    en: {
      label: 'What it is called',
      add: 'Add a permission',
      deleteLink: 'Delete',
      inStore: 'In the store',
      shown: 'Shown',
      hidden: 'Hidden',
      show: {
        link: 'Show',
        title: 'Show the permission in the store?',
        line: (label: string) => `${label}: people who find the app may ask for it`,
        button: 'Show it',
        done: 'It is shown.',
      },
      hide: {
        link: 'Hide',
        title: 'Hide the permission?',
        line: (label: string) => `${label}: no one new can request it; people who have it keep it`,
        button: 'Hide it',
        done: 'It is hidden.',
      },
      make: {
        title: 'Add a permission',
        lead: 'Permissions that people can request in this app, in addition to those found by syncs. A person grants them by hand.',
        line: (label: string, app: string) => `${label}, in ${app}: people may ask for it`,
        button: 'Add the permission',
        done: 'It is added.',
      },
      remove: {
        title: 'Delete the permission?',
        line: (label: string) => `${label} is deleted, and no one can request it any more`,
        button: 'Delete it',
        done: 'It is deleted.',
      },
    },
    de: {
      label: 'Wie sie heißt',
      add: 'Berechtigung hinzufügen',
      deleteLink: 'Löschen',
      inStore: 'Im Katalog',
      shown: 'Sichtbar',
      hidden: 'Verborgen',
      show: {
        link: 'Anzeigen',
        title: 'Berechtigung im Katalog anzeigen?',
        line: (label: string) => `${label}: wer die Anwendung findet, kann sie beantragen`,
        button: 'Ja, anzeigen',
        done: 'Sie ist sichtbar.',
      },
      hide: {
        link: 'Verbergen',
        title: 'Berechtigung verbergen?',
        line: (label: string) =>
          `${label}: niemand kann sie neu beantragen; wer sie hat, behält sie`,
        button: 'Ja, verbergen',
        done: 'Sie ist verborgen.',
      },
      make: {
        title: 'Berechtigung hinzufügen',
        lead: 'Was man in dieser Anwendung beantragen kann, neben dem, was ein Abgleich fand. Jemand vergibt sie von Hand.',
        line: (label: string, app: string) => `${label} in ${app}: kann beantragt werden`,
        button: 'Die Berechtigung hinzufügen',
        done: 'Sie ist hinzugefügt.',
      },
      remove: {
        title: 'Berechtigung löschen?',
        line: (label: string) => `${label} wird gelöscht, und niemand kann sie mehr beantragen`,
        button: 'Ja, löschen',
        done: 'Sie ist gelöscht.',
      },
    },
  }),
} as const
