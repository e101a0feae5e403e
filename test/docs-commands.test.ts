/** Commands of the pages: they exist, their addresses are served, and each block is run or has a reason. */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { createProgram, verbsOf } from '../runtime/cli/program.ts'
import { Manifest } from '../runtime/contract/connector/manifest.ts'
import { SqlStatement } from '../runtime/contract/connector/sql.ts'
import { textFault } from '../runtime/contract/connector/sql-text.ts'
import { OPERATOR_ENDPOINTS } from '../runtime/contract/endpoints/operator.ts'
import { ENDPOINTS } from '../runtime/contract/endpoints/table.ts'
import { INLINE_WEBHOOK_TYPES } from '../runtime/contract/models/inline-webhook.ts'
import { OFFBOARDING_STATUSES } from '../runtime/contract/models/user-offboarding.ts'
import { readCases } from '../runtime/testing/read-cases.ts'
import { type Block, blocksOf, PAGES, ROOT, readPage } from './pages.ts'
import { NOT_RUN, RUN_ELSEWHERE, RUN_HERE } from './run-blocks.ts'

const blocks = PAGES.flatMap(blocksOf)
const shell = blocks.filter(({ language }) => language === 'sh')
const verbs = verbsOf(createProgram())
const { scripts } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8'))

/** A block's commands, one a line: continued lines are joined, comments removed. */
const linesOf = (text: string): string[] =>
  text
    .replace(/\s*\\\n\s*/g, ' ')
    .split('\n')
    .map((line) => line.replace(/(^|\s)#\s.*$/, '').trim())
    .filter((line) => line !== '')

/** Splits a text into words as a shell does, as far as these pages need it. */
const wordsOf = (text: string): string[] =>
  [...text.matchAll(/(?:'[^']*'|"(?:\\.|[^"\\])*"|[^\s'"])+/g)].map(([word]) =>
    word.replace(/^(['"])(.*)\1$/s, '$2'),
  )

const keywayCalls = shell.flatMap(({ page, text }) =>
  linesOf(text).flatMap((line) =>
    [...line.matchAll(/(?:npx|bin\/|exec keyway|^)\s?keyway ([a-z][^;|&>)]*)/g)].map(
      ([, rest = '']) => ({ page, call: rest.trim() }),
    ),
  ),
)

test.each(keywayCalls)('$page: keyway $call is a command with these options', ({ call }) => {
  const words = wordsOf(call)
  const found = verbs
    .filter(({ name }) => `${call} `.startsWith(`${name} `))
    .sort((one, other) => other.name.length - one.name.length)[0]
  expect(found, call).toBeDefined()
  const { options, registeredArguments } = (found ?? { command: createProgram() }).command
  const given = words.slice(found?.name.split(' ').length)
  const operands: string[] = []
  for (let at = 0; at < given.length; at += 1) {
    const word = given[at] ?? ''
    if (!word.startsWith('--')) operands.push(word)
    else {
      const option = options.find(({ long }) => long === word)
      expect(option, `${word} of keyway ${call}`).toBeDefined()
      if (option?.required) at += 1
    }
  }
  const least = registeredArguments.filter(({ required }) => required).length
  const most = registeredArguments.some(({ variadic }) => variadic)
    ? Number.POSITIVE_INFINITY
    : registeredArguments.length
  expect(operands.length).toBeGreaterThanOrEqual(least)
  expect(operands.length).toBeLessThanOrEqual(most)
})

test('commands are found on the pages', () => {
  expect(keywayCalls.length).toBeGreaterThan(40)
})

test.each(
  shell.flatMap(({ page, text }) =>
    [...text.matchAll(/\bnpm (?:run ([\w:]+)|(start|test)\b)/g)].map(([, run, short]) => ({
      page,
      script: run ?? short ?? '',
    })),
  ),
)('$page: npm knows the script $script', ({ script }) => {
  expect(Object.keys(scripts)).toContain(script)
})

const served = [
  ...Object.values(ENDPOINTS),
  ...Object.values(OPERATOR_ENDPOINTS).map((one) => ({ ...one, path: `/operator${one.path}` })),
].map(({ method, path: at }) => ({ method, pattern: patternOf(at) }))

function patternOf(at: string): RegExp {
  return new RegExp(`^${at.replace(/:\w+/g, '[^/]+')}$`)
}

const requests = shell.flatMap(({ page, text }) =>
  linesOf(text).flatMap((line) =>
    [
      ...line.matchAll(
        /\b(?:core|curl -s)((?: -X [A-Z]+)?) "?(?:\$api|http:\/\/127\.0\.0\.1:8080)(\/[^\s"?]*)([^|;]*)/g,
      ),
    ].map(([, verb = '', at = '', rest = '']) => ({
      page,
      method: verb.trim().split(' ')[1] ?? (/ -d /.test(rest) ? 'POST' : 'GET'),
      at: at.replace(/\$\w+/g, 'x'),
    })),
  ),
)

test.each(
  // Addresses with the output of another command are not checked here.
  requests.filter(({ at }) => !/^\/(connectors\/|readyz|healthz)|\$\(/.test(at)),
)('$page: $method $at is served', ({ method, at }) => {
  expect(
    served.some((one) => one.method === method && one.pattern.test(at)),
    `${method} ${at}`,
  ).toBe(true)
})

test('requests are found on the pages', () => {
  expect(requests.length).toBeGreaterThan(25)
})

describe('each block of commands', () => {
  const keyOf = ({ page, text }: Block) => `${page}: ${linesOf(text)[0]}`

  test('is run by a test, or has a reason why not', () => {
    const known = [...Object.keys(RUN_HERE), ...Object.keys(RUN_ELSEWHERE), ...Object.keys(NOT_RUN)]
    expect([...new Set(shell.map(keyOf))].sort()).toEqual([...known].sort())
  })

  test.each(Object.entries(RUN_ELSEWHERE))('%s has a test', (_key, [file, begins]) => {
    expect(readFileSync(path.join(ROOT, file), 'utf8')).toContain(begins)
  })
})

describe('JSON of the pages', () => {
  const json = blocks.filter(({ language }) => language === 'json')

  test.each(json)('$page: a block parses', ({ text }) => {
    expect(() => JSON.parse(text)).not.toThrow()
  })

  test.each(json.filter(({ page }) => page.endsWith('recipes.md')))(
    '$page: members of connector.json match its schema',
    ({ text }) => {
      const entries = Manifest.entries as Record<string, v.GenericSchema>
      for (const [name, value] of Object.entries(JSON.parse(text))) {
        expect(Object.keys(entries)).toContain(name)
        expect(v.safeParse(entries[name] as v.GenericSchema, value).issues).toBeUndefined()
      }
    },
  )

  test('the statements that are shown alone are valid', () => {
    const shown = json.filter(({ page }) => page.endsWith('authors/sql.md'))
    const alone = shown.map(({ text }) => JSON.parse(text)).find((one) => 'give_badge' in one)
    for (const one of Object.values(alone)) expect(textFault(v.parse(SqlStatement, one))).toBeNull()
  })

  test('the cases that are shown are valid', () => {
    const [block] = json.filter(({ page }) => page.endsWith('cases.md'))
    expect(readCases(block?.text)).toMatchObject({
      findings: [],
      cases: [{ capability: 'list_accounts' }],
    })
  })
})

test('every type of webhook is on its page', () => {
  const page = readPage('runtime/docs/administer/webhooks.md')
  for (const type of INLINE_WEBHOOK_TYPES) expect(page).toContain(`| \`${type}\` |`)
})

test('every possible state of an offboarding is on its page', () => {
  const page = readPage('runtime/docs/administer/people.md')
  const kept = ['DIVERTED', 'EXPIRED']
  for (const state of OFFBOARDING_STATUSES.filter((one) => !kept.includes(one)))
    expect(page).toContain(`| \`${state}\` |`)
})
