/** SCIM filters: parsing, and the position of errors. */
import { expect, test } from 'vitest'
import { SCIM_LIMITS } from '../../../runtime/contract/models/scim.ts'
import { type Filter, fitsFilter, parseFilter } from '../../../runtime/core/scim/filter.ts'
import { ScimError } from '../../../runtime/core/scim/problem.ts'

/** A tree as one line. */
function shown(filter: Filter): string {
  if (filter.kind === 'not') return `not(${shown(filter.inner)})`
  if (filter.kind === 'within') return `${filter.path}[${shown(filter.inner)}]`
  if (filter.kind === 'present') return `${filter.path} pr`
  if (filter.kind === 'compare')
    return `${filter.path} ${filter.operator} ${JSON.stringify(filter.value)}`
  return `(${shown(filter.left)} ${filter.kind} ${shown(filter.right)})`
}

test.each([
  ['userName eq "ada@example.com"', 'userName eq "ada@example.com"'],
  ['userName Eq "say \\"hi\\" \\u00fc"', 'userName eq "say \\"hi\\" ü"'],
  ['active eq True', 'active eq true'],
  ['title pr AND userType ne "Temp"', '(title pr and userType ne "Temp")'],
  ['a eq 1 or b eq 2 and c eq 3', '(a eq 1 or (b eq 2 and c eq 3))'],
  ['(a eq 1 or b eq 2) and c eq null', '((a eq 1 or b eq 2) and c eq null)'],
  ['not (a co "x")', 'not(a co "x")'],
  ['emails[type eq "work" and value ew "@x"]', 'emails[(type eq "work" and value ew "@x")]'],
  ['emails[type eq "work"].value eq "a@x"', 'emails[(type eq "work" and value eq "a@x")]'],
  [
    'emails[type eq "work"].value pr and active eq true',
    '(emails[(type eq "work" and value pr)] and active eq true)',
  ],
  [
    'urn:ietf:params:scim:schemas:core:2.0:User:name.givenName sw "A"',
    'urn:ietf:params:scim:schemas:core:2.0:User:name.givenName sw "A"',
  ],
  ['meta.lastModified gt "2026-01-01T00:00:00Z"', 'meta.lastModified gt "2026-01-01T00:00:00Z"'],
])('%s is parsed', (text, tree) => {
  expect(shown(parseFilter(text))).toBe(tree)
})

test.each([
  ['', 1],
  ['userName', 9],
  ['userName is "x"', 10],
  ['userName eq', 12],
  ['userName eq ada', 13],
  ['userName eq "ada', 13],
  ['userName eq "a\\q"', 13],
  ['userName eq "a\\u0000"', 13],
  ['userName eq "\\ud800"', 13],
  ['(userName eq "a"', 17],
  ['userName eq "a")', 16],
  ['emails[type eq "work")', 22],
  ['userName eq "a" userName eq "b"', 17],
  ['userName eq "a"; drop table users', 16],
  ['emails[type eq "work"].value', 29],
  ['emails[type eq "work"]value eq "a"', 23],
  ['.value eq "a"', 1],
  ['and', 4],
  ['%', 1],
])('%s is refused with the position of the error', (text, character) => {
  const refused = () => parseFilter(text)
  expect(refused).toThrow(ScimError)
  expect(refused).toThrow(`at character ${character}:`)
})

test('length, number of comparisons and depth are limited', () => {
  const many = (count: number) => Array.from({ length: count }, () => 'a pr').join(' or ')
  const deep = (count: number) => `${'('.repeat(count)}a pr${')'.repeat(count)}`
  expect(() => parseFilter(many(SCIM_LIMITS.filterTerms))).not.toThrow()
  expect(() => parseFilter(many(SCIM_LIMITS.filterTerms + 1))).toThrow(/comparisons/)
  expect(() => parseFilter(deep(SCIM_LIMITS.filterDepth - 1))).not.toThrow()
  expect(() => parseFilter(deep(SCIM_LIMITS.filterDepth + 1))).toThrow(/levels of brackets/)
  expect(() => parseFilter('('.repeat(SCIM_LIMITS.filterLength))).toThrow(/levels of brackets/)
  expect(() => parseFilter('a'.repeat(SCIM_LIMITS.filterLength + 1))).toThrow(/characters/)
})

test('a filter is evaluated for a single value', () => {
  const holds = (text: string) => fitsFilter(parseFilter(text), { type: 'work', primary: true })
  expect(holds('type eq "WORK"')).toBe(true)
  expect(holds('type eq "home"')).toBe(false)
  expect(holds('primary eq true and type ne "home"')).toBe(true)
  expect(holds('not (primary eq true) or display pr')).toBe(false)
  expect(holds('constructor pr')).toBe(false)
})
