/**
 * Names of the assignees of a task in a sentence. They are enough to find a person, and mark a group as one.
 */
import type { Task } from '../../contract/models/task.ts'
import type { PageLocale } from '../frame/locale.ts'

type Assignee = NonNullable<Task['assignees']>[number]

/** Formats one assignee. A name of one word is followed by the address. */
function assigneeText({ w }: PageLocale, { type, name, email }: Assignee): string {
  if (type === 'GROUP') return name ? w.group_named(name) : w.someone
  if (!name || !email || name === email || name.includes(' ')) return name || email || w.someone
  return `${name} (${email})`
}

/** Formats each assignee's name. `count` is the total; unlisted assignees have an empty name. */
export const eachByName = (
  t: PageLocale,
  told: readonly Assignee[],
  count = told.length,
): string[] => [
  ...told.map((one) => assigneeText(t, one)),
  ...Array.from({ length: Math.max(0, count - told.length) }, () => ''),
]

/** Formats all assignees in a sentence. `count` is the total. */
export const assigneesText = (
  t: PageLocale,
  told: readonly Assignee[],
  count = told.length,
): string => someNames(t, eachByName(t, told, count))

/** Formats names in a sentence: the first three, and the number of others. */
export function someNames({ w }: PageLocale, names: readonly string[]): string {
  if (names.length === 0) return w.someone
  const few = names.slice(0, 3)
  const more = names.length - few.length
  const last = (more > 0 ? w.others(more) : few.pop()) ?? ''
  return few.length === 0 ? last : w.or(few.join(', '), last)
}
