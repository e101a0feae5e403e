/** The page of symptoms: its quotations and commands exist, and a test produces each entry. */
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { createProgram, verbsOf } from '../runtime/cli/program.ts'
import { namesIn, PAGE, quotedIn, SYMPTOMS, shows } from './symptoms.ts'

const ROOT = path.join(import.meta.dirname, '..')
const textsIn = (folder: string, end: string): string[] =>
  readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith(end))
    .map((file) => readFileSync(path.join(ROOT, folder, file), 'utf8'))

const sources = textsIn('runtime', '.ts')
const saidSomewhere = (text: string): boolean => sources.some((source) => source.includes(text))
const commands = [...PAGE.matchAll(/`keyway ([a-z-]+)([^`]*)`/g)]

test.each([...new Set([...quotedIn(PAGE), ...namesIn(PAGE)])])(
  '%s is in the sources of Keyway',
  (text) => {
    expect(saidSomewhere(text)).toBe(true)
  },
)

describe('each entry', () => {
  /** The beginnings of entries that tests name because they produce the symptom. */
  const produced = textsIn('test', '.test.ts').flatMap((text) =>
    [...text.matchAll(/\bshows\(\s*(['"])(.+?)\1,/g)].map(([, , beginning = '']) => beginning),
  )

  test.each(SYMPTOMS)('“$see” is produced by a test, and quotes a text of Keyway', (symptom) => {
    expect(produced.filter((one) => symptom.see.startsWith(one))).not.toEqual([])
    expect(symptom.said).not.toEqual([])
  })

  test('exists if a test names it', () => {
    const strays = produced.filter((one) => !SYMPTOMS.some(({ see }) => see.startsWith(one)))
    expect(strays).toEqual([])
  })

  test('is checked for every text that it quotes', () => {
    const [{ see, said } = { see: '', said: [] }] = SYMPTOMS
    expect(() => shows(see, ...said)).not.toThrow()
    expect(() => shows(see, ...said.slice(1))).toThrow()
    expect(() => shows('', ...said)).toThrow()
  })
})

test.each(commands.map(([whole, verb = '', rest = '']) => [whole, verb, rest]))(
  '%s is a command with these options',
  (_whole, verb, rest) => {
    const found = verbsOf(createProgram()).find(({ name }) => name === verb)
    expect(found, verb).toBeDefined()
    const known = found?.command.options.map(({ long }) => long) ?? []
    for (const [flag] of rest.matchAll(/--[a-z-]+/g)) expect(known).toContain(flag)
  },
)
