import { expect, test } from 'vitest'
import { localeOf } from '../../../runtime/http/frame/locale.ts'
import { assigneesText } from '../../../runtime/http/pages/assignee-names.ts'

const user = (name: string | null, email: string | null) =>
  ({ id: String(name), type: 'USER', name, email }) as const
const team = { id: 'g', type: 'GROUP', name: 'On Call', email: null } as const
const words = (...all: Parameters<typeof assigneesText>[1][number][]) =>
  assigneesText(localeOf('en'), all)

test('a group is told from a person', () => {
  expect(words(user('Ada Abbott', 'ada@example.com'), team)).toBe('Ada Abbott or On Call (group)')
})

test('who has one name is told with the address', () => {
  expect(words(user('Admin', 'admin@localhost'))).toBe('Admin (admin@localhost)')
  expect(words(user('admin@localhost', 'admin@localhost'))).toBe('admin@localhost')
})

test('who has no name and no address is somebody', () => {
  expect(words(user(null, null))).toBe('Someone')
  expect(words()).toBe('Someone')
})

test('of many the first are named', () => {
  const all = ['A B', 'C D', 'E F'].map((name) => user(name, null))
  expect(assigneesText(localeOf('en'), all, 12)).toBe('A B, C D, E F or 9 others')
})
