/** CATALOGUE: all words of pages and mail, by what they are for. */
import { MAIL_FRAME, MAIL_TEXTS } from './mail.ts'
import { PERSONAL_WORDS } from './personal.ts'
import type { WordTable } from './say.ts'

export const CATALOGUE = {
  mail: MAIL_TEXTS,
  mail_frame: MAIL_FRAME,
  personal: PERSONAL_WORDS,
} as const satisfies Record<string, WordTable>
