/** Those who decide or do something, in a sentence: so that a person is found, and a group is not taken for one. */
import type { Task } from '../../contract/models/task.ts'
import type { Tongue } from '../frame/tongue.ts'

type Assignee = NonNullable<Task['assignees']>[number]

/** One who may do something: a name that says little has its address behind it. */
function whoIs({ w }: Tongue, { type, name, email }: Assignee): string {
  if (type === 'GROUP') return name ? w.group_named(name) : w.someone
  if (!name || !email || name === email || name.includes(' ')) return name || email || w.someone
  return `${name} (${email})`
}

/** All of them by name; those of `count` that are not told have none. */
export const eachByName = (t: Tongue, told: readonly Assignee[], count = told.length): string[] => [
  ...told.map((one) => whoIs(t, one)),
  ...Array.from({ length: Math.max(0, count - told.length) }, () => ''),
]

/** All of them in a sentence; `count` where there are more than are told. */
export const whoAre = (t: Tongue, told: readonly Assignee[], count = told.length): string =>
  someNames(t, eachByName(t, told, count))

/** Some names in a sentence, of many the first. */
export function someNames({ w }: Tongue, names: readonly string[]): string {
  if (names.length === 0) return w.someone
  const few = names.slice(0, 3)
  const more = names.length - few.length
  const last = (more > 0 ? w.others(more) : few.pop()) ?? ''
  return few.length === 0 ? last : w.or(few.join(', '), last)
}
