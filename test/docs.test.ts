import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { createProgram, verbsOf } from '../runtime/cli/program.ts'
import { CAPABILITY_NAMES } from '../runtime/contract/capabilities/capabilities.ts'
import { WANT_KINDS } from '../runtime/contract/endpoints/generation.ts'
import { OPERATOR_ENDPOINTS } from '../runtime/contract/endpoints/operator.ts'
import { ENDPOINTS } from '../runtime/contract/endpoints/table.ts'
import { ERROR_CODES } from '../runtime/contract/errors/error-codes.ts'
import { ERRORS } from '../runtime/contract/errors/errors.ts'
import { ACCESS_LENGTHS } from '../runtime/contract/models/access-length.ts'
import { PERMISSIONS, ROLES } from '../runtime/contract/models/roles.ts'
import { TASK_ACTIONS } from '../runtime/core/tasks/task-actions.ts'
import { CASE_FIELDS } from '../runtime/http/documents/case-fields.ts'
import * as sdk from '../runtime/sdk/sdk.ts'
import * as testing from '../runtime/testing/testing.ts'
import { docsPages, partPages, roomPages, staleFiles } from '../scripts/docs.ts'
import { PARTS, partsOf } from '../scripts/parts.ts'
import { ROOT, readPage } from './pages.ts'

/** The pages of the documentation, concatenated. */
const written = docsPages().map(readPage).join('\n')

/** The first cells of the table under a heading. */
function firstCells(heading: string): string[] {
  const section = written.split(`\n## ${heading}\n`)[1]?.split(/\n##? /)[0] ?? ''
  return [...section.matchAll(/^\| `([^`]+)` \|/gm)].map(([, cell]) => cell ?? '')
}

test('every command on the page of symptoms exists', () => {
  const page = readPage('runtime/docs/operate/troubleshooting.md')
  const named = [...page.matchAll(/`keyway ([a-z-]+)/g)].map(([, verb]) => verb)
  const verbs = verbsOf(createProgram()).map(({ name }) => name.split(' ')[0])
  expect(named.length).toBeGreaterThan(8)
  expect(named.filter((verb) => !verbs.includes(verb))).toEqual([])
})

test('all generated files are up to date', async () => {
  expect(await staleFiles(), 'run `npm run docs`').toEqual([])
})

test('every error is in the reference, and the reference has no others', () => {
  expect(firstCells('Errors')).toEqual(Object.keys(ERRORS))
})

test('every code that callers see is in the reference, and the reference has no others', () => {
  const [, list = ''] = /closed list: (`.*)\.$/m.exec(written) ?? []
  expect(list.replaceAll('`', '').split(', ')).toEqual(ERROR_CODES)
  expect(firstCells('Codes for authors').slice(1)).toEqual(ERROR_CODES)
})

test('everything that authors import, and all of ctx, is in the reference', () => {
  const context = [
    ...['fetch', 'auth', 'credentials', 'settings', 'page', 'raw', 'log', 'signal', 'basic', 'now'],
    ...['sign', 'exchange', 'jwt', 'serviceAccount', 'oauth1', 'aws'],
  ]
  const values = [...Object.keys(sdk), ...Object.keys(testing)]
  const cells = firstCells('For authors')
  expect(cells).toEqual(expect.arrayContaining(values))
  for (const name of context)
    expect(cells.filter((cell) => new RegExp(`^${name}[:(]`).test(cell))).toHaveLength(1)
})

test('statuses and their codes are in the reference', () => {
  expect(written).toContain('| 429 | `rate_limit` |')
})

test('every capability is in the reference', () => {
  expect(firstCells('Capabilities').sort()).toEqual([...CAPABILITY_NAMES].sort())
})

test('every field of a case is in the reference, and the reference has no others', () => {
  expect(firstCells('Case fields')).toEqual(Object.keys(CASE_FIELDS))
})

test('every generated part is on exactly one page', () => {
  const places = [...docsPages(), 'plugins/README.md'].flatMap((page) => partsOf(readPage(page)))
  expect(places.sort()).toEqual(Object.keys(PARTS).sort())
})

test('the request headers that connectors may not set are in the reference', () => {
  const [, list = ''] =
    /sends every request header except (.*)\. Those are refused/.exec(written) ?? []
  expect(list.split(', ')).toEqual(expect.arrayContaining(['`cookie`', '`host`', '`x-forwarded*`']))
  expect(list).not.toContain('if-')
})

test('every core endpoint is in the reference, and the reference has no others', () => {
  const all = Object.values(ENDPOINTS).map(
    ({ method, path }) => `${method} ${path.replace(/:(\w+)/g, '{$1}')}`,
  )
  expect(firstCells('Core endpoints').sort()).toEqual(all.sort())
})

test('every endpoint of the operator is in the reference, and the reference has no others', () => {
  const all = Object.values(OPERATOR_ENDPOINTS).map(
    ({ method, path }) => `${method} /operator${path.replace(/:(\w+)/g, '{$1}')}`,
  )
  expect(firstCells('Operator endpoints')).toEqual(all)
})

test('every command is in the reference, and the reference has no others', () => {
  const commands = firstCells('Commands').filter((cell) => cell.startsWith('keyway '))
  expect(commands.map((cell) => cell.replace(/^keyway | [<[].*$/g, ''))).toEqual(
    verbsOf(createProgram()).map(({ name }) => name),
  )
})

test.each([
  ['Wants', WANT_KINDS],
  ['Roles', ROLES],
  ['Task actions', TASK_ACTIONS],
  ['Access lengths', ACCESS_LENGTHS],
])('%s are in the reference, in the order of their table', (heading, rows) => {
  expect(firstCells(heading)).toEqual(Object.keys(rows))
})

test('every permission that an endpoint asks for is in the reference', () => {
  for (const name of PERMISSIONS) expect(written).toContain(`\`${name}\``)
  expect(written).toContain('| `GET /users` | List users, by e-mail | `users.read` |')
})

test('statuses and parameters of an endpoint are in the reference', () => {
  const row = written.split('\n').find((line) => line.startsWith('| `POST /apps` '))
  expect(row).toContain('| 413, 501, 502 |')
  expect(written).toContain('`size?: integer 1..100 = 50`')
})

test.each(roomPages())(
  '%s describes its folder and the allowed imports in at most 30 lines',
  (page) => {
    const text = readPage(page)
    expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(30)
    expect(text).toMatch(/^# \w+\n\n[A-Z`]/)
    expect(partsOf(text)).toEqual(['may-import'])
    expect(readPage('CONTRIBUTING.md')).toContain(`](${page})`)
  },
)

test.each(partPages())(
  '%s describes its folder in at most 30 lines, and the README of the folder above links to it',
  (page) => {
    const text = readPage(page)
    expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(30)
    expect(text).toMatch(/^# \w+\n\n[A-Z`]/)
    const [, room = '', part = ''] = /^(runtime\/\w+)\/(.+)$/.exec(page) ?? []
    expect(readPage(`${room}/README.md`)).toContain(`](${part})`)
  },
)

test.each([...roomPages(), ...partPages()])('%s names only files that exist', (page) => {
  const room = path.dirname(page)
  const named = [...readPage(page).matchAll(/`([\w/.-]+(?:\.ts|\/))`/g)].map(
    ([, file = '']) => file,
  )
  const [, top = ''] = /^(runtime\/\w+)/.exec(room) ?? []
  const places = [room, top, 'runtime', '.']
  const base = (file: string) => path.basename(file)
  const below = new Set(
    readdirSync(path.join(ROOT, room), { recursive: true, encoding: 'utf8' }).map(base),
  )
  const strays = named.filter(
    (file) =>
      !file.includes('<') &&
      !places.some((place) => existsSync(path.join(ROOT, place, file))) &&
      !below.has(base(file)),
  )
  expect(strays).toEqual([])
})

test('identifiers on the pages of folders exist in the code', () => {
  const sources = readdirSync(path.join(ROOT, 'runtime'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => readFileSync(path.join(ROOT, 'runtime', file), 'utf8'))
  const words = new Set(sources.flatMap((text) => text.match(/\b[A-Za-z]\w+\b/g) ?? []))
  const named = [...roomPages(), ...partPages()].flatMap((page) =>
    [...readPage(page).matchAll(/`([a-z]+[A-Z]\w*|[A-Z]\w+)`/g)].map(([, name = '']) => name),
  )
  expect(named).toEqual(expect.arrayContaining(['chooseDeciders', 'RETRY_SCHEDULES', 'JobHandler']))
  expect(named.filter((name) => !words.has(name))).toEqual([])
})

/** A name and the file that a page says has it: `name` (`file.ts`), `name` in `file.ts`. */
const NAME_IN_FILE =
  /`([a-z]+[A-Z]\w*|[A-Z]\w+)`(?:, `(?:[a-z]+[A-Z]\w*|[A-Z]\w+)`)* (?:in |of |\()`([\w/.-]+\.ts)`/g

test('identifiers on the pages of folders are in the files that the pages name with them', () => {
  const named = [...roomPages(), ...partPages()].flatMap((page) => {
    const room = path.dirname(page)
    const places = [room, room.split('/').slice(0, 2).join('/'), 'runtime', 'runtime/core', '.']
    const inRoom = readdirSync(path.join(ROOT, room), { recursive: true, encoding: 'utf8' })
    return [...readPage(page).matchAll(NAME_IN_FILE)].map(([, name = '', file = '']) => ({
      ...{ page, name, file },
      candidates: [
        ...places.map((place) => path.join(place, file)),
        ...inRoom
          .filter((one) => `/${one}`.endsWith(`/${file}`))
          .map((one) => path.join(room, one)),
      ].filter((one) => existsSync(path.join(ROOT, one))),
    }))
  })
  expect(named.length).toBeGreaterThan(100)
  const wrong = named.filter(
    ({ name, candidates }) =>
      !candidates.some((file) => new RegExp(`\\b${name}\\b`).test(readPage(file))),
  )
  expect(wrong.map(({ page, name, file }) => `${page}: ${name} is not in ${file}`)).toEqual([])
})

test('the README is short, and shows how to start Keyway before how to call it', () => {
  const readme = readPage('README.md')
  expect(readme.split('\n').length).toBeLessThanOrEqual(121)
  expect(readme.indexOf('npm start')).toBeLessThan(readme.indexOf('curl'))
})
