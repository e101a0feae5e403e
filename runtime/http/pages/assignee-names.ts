/** Names of the assignees of a task, for a sentence. A person can be found by them, and a group is called a group. */
import type { Task } from '../../contract/models/task.ts'
import type { Tongue } from '../frame/tongue.ts'

type Assignee = NonNullable<Task['assignees']>[number]

/** One assignee. A name of one word is followed by the address. */
function assigneeText({ w }: Tongue, { type, name, email }: Assignee): string {
  if (type === 'GROUP') return name ? w.group_named(name) : w.someone
  if (!name || !email || name === email || name.includes(' ')) return name || email || w.someone
  return `${name} (${email})`
}

/** Each assignee's name. `count` is how many there are in all; those that are not listed have an empty name. */
export const eachByName = (t: Tongue, told: readonly Assignee[], count = told.length): string[] => [
  ...told.map((one) => assigneeText(t, one)),
  ...Array.from({ length: Math.max(0, count - told.length) }, () => ''),
]

/** All assignees in a sentence; `count` is how many there are in all. */
export const assigneesText = (t: Tongue, told: readonly Assignee[], count = told.length): string =>
  someNames(t, eachByName(t, told, count))

/** Names in a sentence: the first three, and how many more there are. */
export function someNames({ w }: Tongue, names: readonly string[]): string {
  if (names.length === 0) return w.someone
  const few = names.slice(0, 3)
  const more = names.length - few.length
  const last = (more > 0 ? w.others(more) : few.pop()) ?? ''
  return few.length === 0 ? last : w.or(few.join(', '), last)
}
