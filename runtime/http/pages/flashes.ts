/** FLASHES: action -> message on the next page, in every language. */
import { mapValues } from '../../contract/schema/keys.ts'
import type { TaskActionType } from '../../core/tasks/task-actions.ts'
import type { Language } from '../../words/languages.ts'
import { PAGE_WORDS } from '../../words/page-words.ts'
import { BUTTONS } from './task-detail.ts'

export type Flash = Readonly<Record<Language, string>>

const ofAction = (name: TaskActionType): Flash =>
  mapValues(PAGE_WORDS.actions, (words) => words[name][1])

export const FLASHES: Readonly<Record<string, Flash>> = {
  ...mapValues(BUTTONS, (_, name) => ofAction(name)),
  commented: PAGE_WORDS.done_commented,
  reassigned: PAGE_WORDS.done_reassigned,
  asked: PAGE_WORDS.done_asked,
  taken: PAGE_WORDS.done_taken,
  withdrawn: PAGE_WORDS.done_withdrawn,
  reminded: PAGE_WORDS.done_reminded,
  saved: PAGE_WORDS.saved,
  delegated: PAGE_WORDS.done_delegated,
  undelegated: PAGE_WORDS.done_undelegated,
  'given-back': PAGE_WORDS.done_given_back,
  revoked: PAGE_WORDS.done_revoked,
}
