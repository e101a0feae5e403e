import { expect, test } from 'vitest'
import { localeOf } from '../../../runtime/http/frame/locale.ts'
import { assigneesText } from '../../../runtime/http/pages/assignee-names.ts'

const user = (name: string | null, email: string | null) =>
  ({ id: String(name), type: 'USER', name, email }) as const
const team = { id: 'g', type: 'GROUP', name: 'On Call', email: null } as const
const words = (...all: Parameters<typeof assigneesText>[1][number][]) =>
  assigneesText(localeOf('en'), all)

test('a group is marked as a group', () => {
  expect(words(user('Ada Abbott', 'ada@example.com'), team)).toBe('Ada Abbott or On Call (group)')
})

test('a person with a single name is shown with the address', () => {
  expect(words(user('Admin', 'admin@localhost'))).toBe('Admin (admin@localhost)')
  expect(words(user('admin@localhost', 'admin@localhost'))).toBe('admin@localhost')
})

test('a person without a name and an address is shown as someone', () => {
  expect(words(user(null, null))).toBe('Someone')
  expect(words()).toBe('Someone')
})

test('the first of many assignees are named, and the others are counted', () => {
  const all = ['A B', 'C D', 'E F'].map((name) => user(name, null))
  expect(assigneesText(localeOf('en'), all, 12)).toBe('A B, C D, E F or 9 others')
})
