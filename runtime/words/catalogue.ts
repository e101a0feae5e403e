/** CATALOGUE: all words of pages and mail, by what they are for. */
import { MAIL_FRAME, MAIL_TEXTS } from './mail.ts'
import { PAGE_PARTS } from './page-words.ts'
import type { WordTable } from './say.ts'

export const CATALOGUE = {
  mail: MAIL_TEXTS,
  mail_frame: MAIL_FRAME,
  ...PAGE_PARTS,
} as const satisfies Record<string, WordTable>
