/**
 * REFUSALS_SAID: for each language but English, a refusal of the core in the English of the place that throws it -> the same
 * in this language. What is put into a text is `{}`, or `{;}` for a list of refusals. The English is written there alone;
 * what has no row is shown in English.
 */
import { mapValues } from '../contract/schema/keys.ts'
import type { Language } from './languages.ts'
import { OPERATING_GERMAN } from './refusals-operating.ts'

const GERMAN: Readonly<Record<string, string>> = {
  ...OPERATING_GERMAN,

  // Who may what.
  'You signed in with a read-only token': 'Sie sind mit einem Token angemeldet, das nur lesen darf',
  'None of your roles opens this page': 'Keine Ihrer Rollen öffnet diese Seite',
  'This user is {}': 'Diese Person ist {}',
  'This is the last Admin; give the role to another user first':
    'Das ist die letzte Person mit der Rolle Admin; geben Sie die Rolle erst einer anderen',
  'Every user has the role User; it cannot be removed':
    'Jede Person hat die Rolle User; sie lässt sich nicht entziehen',

  // Pages and forms.
  'There is no such page': 'Diese Seite gibt es nicht',
  'The form names no action':
    'Das Formular sagt nicht, was zu tun ist; öffnen Sie die Seite noch einmal',
  'The form names no choice':
    'Das Formular sagt nicht, was gewählt ist; öffnen Sie die Seite noch einmal',
  'The form is from an earlier visit; open the page again':
    'Das Formular stammt von einem früheren Besuch; öffnen Sie die Seite noch einmal',
  'The form has no id; open the page again':
    'Dem Formular fehlt seine Kennung; öffnen Sie die Seite noch einmal',
  'The form contains bytes that are not UTF-8': 'Das Formular enthält Bytes, die kein UTF-8 sind',
  'Send the form of the page': 'Senden Sie das Formular der Seite',
  'Another page sent this form, so nothing was done':
    'Eine andere Seite hat dieses Formular gesendet; es wurde nichts getan',
  'This way to sign in does not exist': 'Diese Art der Anmeldung gibt es nicht',
  'Too many attempts; wait {} seconds': 'Zu viele Versuche; warten Sie {} Sekunden',
  '{} is not served here': '{} gibt es hier nicht',

  // What is not there.
  'Task not found': 'Diese Aufgabe gibt es nicht, oder sie ist nicht für Sie',
  'Access request not found': 'Diese Anfrage gibt es nicht, oder Sie sehen sie nicht',
  'App not found': 'Diese Anwendung gibt es nicht, oder Sie sehen sie nicht',
  'App in the app store not found':
    'Diese Anwendung kann man nicht beantragen, oder Sie sehen sie nicht',
  'Permission not found': 'Diese Berechtigung gibt es nicht, oder Sie sehen sie nicht',
  'Break-glass permission not found':
    'Diese Berechtigung gibt es nicht, oder sie ist kein Notfallzugang',
  'Delegation not found': 'Diese Vertretung gibt es nicht',
  'Token not found': 'Dieses Token gibt es nicht',
  'SCIM token not found': 'Dieses SCIM-Token gibt es nicht',
  'User not found': 'Diese Person gibt es nicht',
  'No identity source knows this user: the host created it for its operator':
    'Keine Quelle von Personen kennt diese Person: Keyway hat sie für den Betrieb angelegt',
  'Group not found': 'Diese Gruppe gibt es nicht',
  'Access review not found': 'Diese Zugriffsüberprüfung gibt es nicht, oder Sie sehen sie nicht',
  'Line not found': 'Diese Zeile gibt es nicht, oder Sie sehen sie nicht',
  'Finding not found': 'Diese Feststellung gibt es nicht',
  'There is no such policy': 'Diese Richtlinie gibt es nicht',

  // Asking.
  'You have already asked for this, and the request is pending':
    'Sie haben das schon beantragt, und die Anfrage wartet',
  'This app is disconnected; you cannot request anything in it':
    'Diese Anwendung ist getrennt; darin lässt sich nichts beantragen',
  'there is no such user': 'diese Person gibt es nicht',
  'this user is {}': 'diese Person ist {}',
  'there is no such app in the app store; add it with POST /appstore/apps':
    'diese Anwendung kann man nicht beantragen',
  'this app allows only one permission per request':
    'von dieser Anwendung lässt sich nur eine Berechtigung auf einmal beantragen',
  'the app has no such permission': 'die Anwendung hat diese Berechtigung nicht',
  '{} is no longer in the app': '{} gibt es in der Anwendung nicht mehr',
  'Only members of certain groups can have this, and the person is in none of them':
    'Das ist nur für Mitglieder bestimmter Gruppen, und die Person ist in keiner davon',
  'here it must be {}': 'dafür ist nur möglich: {}',
  'give a duration: {}': 'geben Sie an, wie lange: {}',
  'This conflicts with access that the person holds or has requested (separation of duties: {}); have the other side revoked first':
    'Die Person darf das nicht zusammen mit dem haben, was sie hat oder beantragt hat (Funktionstrennung: {}); lassen Sie erst die andere Seite entziehen',
  'The request is {}; only a pending one can be cancelled':
    'Die Anfrage ist {}; nur eine wartende lässt sich zurückziehen',
  'The access has already ended; there is nothing to give back':
    'Der Zugang ist inzwischen beendet; es gibt nichts mehr zurückzugeben',
  'Only the person who holds the access can give it back':
    'Nur die Person, die den Zugang hat, kann ihn zurückgeben',
  'A policy gives this access, so it cannot be given back':
    'Eine Richtlinie gibt diesen Zugang, deshalb lässt er sich nicht zurückgeben',
  'The request is {}; only access that you hold can be given back':
    'Die Anfrage ist {}; zurückgeben lässt sich nur Zugang, der da ist',
  'Only the requester and the person to receive the access can send a reminder':
    'Erinnern kann nur, wer angefragt hat oder den Zugang haben soll',
  'No one is deciding on it now, or the approvers were asked or reminded less than a day ago; wait until a day has passed':
    'Niemand entscheidet gerade darüber, oder die letzte Frage oder Erinnerung ist noch keinen Tag her; warten Sie, bis ein Tag vorbei ist',

  // Emergency access.
  'No one could review this: there is no other approver or admin. Ask an admin to name approvers for the app (PATCH /appstore/apps/{app_id}/settings)':
    'Niemand könnte das prüfen: Es gibt keine anderen Genehmigenden oder Administratoren. Bitten Sie einen Administrator, für die Anwendung Genehmigende zu benennen',

  // Deciding.
  'The task is not assigned to you': 'Die Aufgabe ist Ihnen nicht zugewiesen',
  'The task is not assigned to you: you may read it':
    'Die Aufgabe ist Ihnen nicht zugewiesen: Sie dürfen sie lesen',
  'You requested this access or are to receive it: another person has to decide':
    'Dieser Zugang ist für Sie, oder Sie haben ihn beantragt: Eine andere Person muss entscheiden',
  'The person to receive the access is {} and gets nothing until they are ACTIVE: deny the request, or approve it then':
    'Wer den Zugang haben soll, ist {} und bekommt nichts, solange der Zustand nicht ACTIVE ist: Lehnen Sie ab, oder genehmigen Sie es dann',
  'No connector or webhook can do this; do it by hand and complete the task':
    'Es gibt weder einen Connector noch einen Webhook dafür; tun Sie es von Hand und schließen Sie die Aufgabe ab',
  'Describe in `reason` what the review found; the task cannot be closed without it':
    'Schreiben Sie in die Begründung, was die Prüfung ergab; ohne sie lässt sich die Aufgabe nicht abschließen',
  'The task is already {}': 'Die Aufgabe ist schon {}',
  'The task is already {} and offers no more actions':
    'Die Aufgabe ist schon {} und bietet keine Aktion mehr an',
  'The task does not offer this action; it offers {}':
    'Die Aufgabe bietet diese Aktion nicht an; sie bietet {}',
  'Only approval tasks can be reassigned': 'Nur Entscheidungen lassen sich an andere übergeben',
  'As a delegate you can decide on this task but not reassign it: the person you stand in for can, and an admin':
    'Als Vertretung entscheiden Sie über diese Aufgabe und geben sie nicht weiter: Das dürfen die Person, für die Sie entscheiden, und Administratoren',
  'The requester and the person to receive the access cannot decide on it':
    'Wer angefragt hat oder den Zugang haben soll, kann nicht darüber entscheiden',
  'None of them can decide on it: they have left, or their groups contain only the requester and the person to receive the access':
    'Niemand davon kann darüber entscheiden: Die Person ist nicht mehr da, oder in der Gruppe sind nur die, die angefragt haben oder den Zugang haben sollen',

  // Delegates.
  'you cannot be your own delegate': 'niemand kann sich selbst vertreten',
  'This delegation already exists with another reason; end it first':
    'Diese Vertretung gibt es schon, mit anderer Begründung; beenden Sie sie erst',
  'There are already {} delegations; end one first':
    'Es gibt schon {} Vertretungen; beenden Sie erst eine',
  'this is not a date and time': 'das ist kein Zeitpunkt',
  'this must be in the future': 'das muss in der Zukunft liegen',
  'at most {} days': 'höchstens {} Tage',
  'The delegation has already ended': 'Die Vertretung ist schon beendet',

  // Fields of forms, behind their names.
  'must be an address such as https://acme.example/': 'eine Adresse wie https://acme.example/',
  'a decimal number such as 12.50': 'eine Zahl wie 12.50',
  'a currency by its three letters, such as EUR':
    'eine Währung mit ihren drei Buchstaben, etwa EUR',
  'holds a character that cannot be sent (control, or outside Latin-1)':
    'das enthält ein Zeichen, das sich nicht senden lässt (Steuerzeichen, oder nicht in Latin-1)',
  'The address is not an absolute URL that can be read':
    'Die Adresse ist keine vollständige, lesbare URL',

  // Tokens and one's own data.
  'You already have {} valid tokens; revoke one that you no longer need':
    'Sie haben {} gültige Token; widerrufen Sie erst eines, das Sie nicht mehr brauchen',
  'There are already {} valid SCIM tokens; revoke one first':
    'Es gibt {} gültige SCIM-Token; widerrufen Sie erst eines',
  'Your data was given out {} times within an hour; wait an hour':
    'Ihre Daten wurden innerhalb einer Stunde {}-mal ausgegeben; warten Sie eine Stunde',

  // Reviews.
  'You are not a reviewer of any line of this access review':
    'Sie prüfen keine Zeile dieser Zugriffsüberprüfung',
  'You are not asked to review or remove these lines':
    'Sie prüfen diese Zeilen nicht und entziehen sie auch nicht',
  'The access review is {}; nothing can be decided':
    'Die Zugriffsüberprüfung ist {}; es lässt sich nichts mehr entscheiden',
  'A reason is needed to {}': 'Dafür braucht es eine Begründung',
  'These are {} lines; more than {} at once need a reason':
    'Das sind {} Zeilen; mehr als {} auf einmal brauchen eine Begründung',
  'A reason is needed to keep a line with one of the hints {}':
    'Eine Zeile mit einem dieser Hinweise lässt sich nur mit Begründung behalten: {}',
  'People cannot review their own access': 'Niemand prüft den eigenen Zugang',
  'The access review already has {} files, which is the maximum':
    'Die Zugriffsüberprüfung hat {} Dateien; mehr dürfen es nicht sein',
  'Its reviewers were reminded within the last hour; try again later':
    'Die Prüfenden wurden in der letzten Stunde schon erinnert; warten Sie etwas',
  'None of its lines is waiting for a reviewer': 'Keine Zeile davon wartet auf jemanden',
  'The access review has no apps; delete it':
    'Die Zugriffsüberprüfung hat keine Anwendungen; löschen Sie sie',
  '{} of its apps are not launched yet; wait for them, or remove them from the review':
    '{} der Anwendungen sind noch nicht gestartet; warten Sie darauf, oder nehmen Sie sie heraus',
  'There is already an access review named “{}”':
    'Eine Zugriffsüberprüfung mit dem Namen „{}“ gibt es schon',
  'Choose at least one app': 'Wählen Sie mindestens eine Anwendung',

  // Offboardings and findings.
  'An offboarding of this user is already scheduled or in progress':
    'Ein Austritt dieser Person ist schon geplant oder im Gang',
  'This user has been offboarded and has no access left':
    'Diese Person ist ausgetreten und hat nichts mehr, was zu entziehen wäre',
  'The finding is already open': 'Die Feststellung ist schon offen',
  'The finding is resolved: a later check no longer found it':
    'Die Feststellung ist erledigt: Bei der letzten Prüfung bestand sie nicht mehr',
  'this must be within the next {} days': 'das muss innerhalb der nächsten {} Tage liegen',

  // Apps.
  'This app is not connected': 'Diese Anwendung ist nicht verbunden',
  'This app comes back when you reconnect it':
    'Diese Anwendung kommt zurück, wenn sie wieder verbunden wird',
  'A sync of this app is running; try again when it has finished':
    'Ein Abgleich dieser Anwendung läuft; versuchen Sie es noch einmal, wenn er zu Ende ist',
  'The condition cannot be evaluated here': 'Die Bedingung lässt sich hier nicht auswerten',
}

export const REFUSALS_SAID = { de: GERMAN } as const satisfies Record<
  Exclude<Language, 'en'>,
  Readonly<Record<string, string>>
>

/** REFUSALS_SAID with what stands in place of `{}`, the longer texts first: they say more. */
const PATTERNS = mapValues(REFUSALS_SAID, (rows) =>
  Object.entries(rows)
    .filter(([words]) => words.includes('{}'))
    .sort(([a], [b]) => b.length - a.length)
    .map(([words, said]) => ({
      fits: new RegExp(`^${words.split('{}').map(RegExp.escape).join('(.+?)')}$`, 's'),
      said,
    })),
)

/** The words of a refusal in a language; null where they are not known in it, which English always are. */
export function refusalIn(language: Language, words: string): string | null {
  if (language === 'en') return words
  const rows = REFUSALS_SAID[language]
  if (Object.hasOwn(rows, words)) return rows[words] ?? null
  for (const { fits, said } of PATTERNS[language]) {
    const parts = fits.exec(words)?.slice(1)
    if (!parts) continue
    let [at, isKnown] = [0, true]
    const inLanguage = said.replaceAll(/\{(;?)\}/g, (_, list: string) => {
      const part = parts[at++] ?? ''
      if (list === '') return part
      const told = eachIn(language, part)
      isKnown &&= told !== null
      return told ?? ''
    })
    return isKnown ? inLanguage : null
  }
  return null
}

/**
 * The refusals of a list in a language; null where one is not known in it. A refusal may itself contain the
 * separator, so the longest known beginning counts.
 */
function eachIn(language: Language, list: string): string | null {
  if (list === '') return ''
  const all = list.split('; ')
  for (let many = all.length; many > 0; many--) {
    const first = refusalIn(language, all.slice(0, many).join('; '))
    const rest = first === null ? null : eachIn(language, all.slice(many).join('; '))
    if (first !== null && rest !== null) return rest === '' ? first : `${first}; ${rest}`
  }
  return null
}
