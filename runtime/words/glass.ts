/** GLASS_WORDS: taking break-glass access. */
export const GLASS_WORDS = {
  break_glass: { en: 'Emergency access', de: 'Notfallzugang' },
  error_break_glass: { en: 'Error: emergency access', de: 'Fehler: Notfallzugang' },
  glass_lead: {
    en: 'Access that cannot wait for a decision. It is given at once and ends by itself. All approvers are told, and one of them reviews what it was used for.',
    de: 'Zugang, der nicht auf eine Entscheidung warten kann. Er wird sofort eingerichtet und endet von selbst. Alle Genehmigenden erfahren es, und eine Person von ihnen prüft, wofür er verwendet wurde.',
  },
  glass_none: { en: 'Nothing here for you', de: 'Hier ist nichts für Sie' },
  glass_none_text: {
    en: 'Admins choose which access may be taken this way, and by which groups.',
    de: 'Administratoren legen fest, welcher Zugang so genommen werden darf, und von welchen Gruppen.',
  },
  glass_not_given: { en: 'Nothing was given', de: 'Es wurde nichts eingerichtet' },
  glass_of: {
    en: (app: string, length: string) => `in ${app}, ${length} at most`,
    de: (app: string, length: string) => `in ${app}, höchstens ${length}`,
  },
  glass_minutes: { en: 'Minutes', de: 'Minuten' },
  glass_minutes_help: {
    en: 'Empty: as long as possible. The time starts when the access is given.',
    de: 'Leer: so lange wie erlaubt. Die Zeit beginnt, wenn der Zugang da ist.',
  },
  glass_reason: { en: 'Why can it not wait?', de: 'Warum kann es nicht warten?' },
  glass_reason_help: {
    en: 'All approvers read this.',
    de: 'Das lesen alle Genehmigenden.',
  },
  glass_take: { en: 'Take it now', de: 'Jetzt nehmen' },
  glass_choose: { en: 'Choose what you need.', de: 'Wählen Sie, was Sie brauchen.' },
  glass_say_why: {
    en: 'Say why it cannot wait.',
    de: 'Schreiben Sie, warum es nicht warten kann.',
  },
  glass_say_minutes: {
    en: 'Say for how many minutes, as a whole number.',
    de: 'Geben Sie die Minuten als ganze Zahl an.',
  },
  glass_taken_for: {
    en: (length: string) => `Taken as emergency access ${length}.`,
    de: (length: string) => `Als Notfallzugang genommen ${length}.`,
  },
  glass_review_waits: {
    en: (who: string) => `${who} reviews this use`,
    de: (who: string) => `${who} prüft diese Verwendung`,
  },
  glass_found: {
    en: (who: string) => `${who} reviewed this use`,
    de: (who: string) => `${who} hat diese Verwendung geprüft`,
  },
  done_taken: {
    en: 'Emergency access is being given. All approvers are told.',
    de: 'Der Notfallzugang wird eingerichtet. Alle Genehmigenden erfahren es.',
  },
} as const
