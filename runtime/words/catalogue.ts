/** CATALOGUE: all words of pages and mail, by what they are for. */
import { CONSOLE_WORDS } from './console.ts'
import { MAIL_FRAME, MAIL_TEXTS } from './mail.ts'
import { PAGE_PARTS } from './page-words.ts'
import type { WordTable } from './say.ts'

export const CATALOGUE = {
  mail: MAIL_TEXTS,
  mail_frame: MAIL_FRAME,
  ...PAGE_PARTS,
  console: CONSOLE_WORDS,
} as const satisfies Record<string, WordTable>
