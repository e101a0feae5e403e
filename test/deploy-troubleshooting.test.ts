/** The page of symptoms: what it quotes is what Keyway says, and the commands that it names are there. */
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { createProgram, verbsOf } from '../runtime/cli/program.ts'

const ROOT = path.join(import.meta.dirname, '..')
const page = readFileSync(path.join(ROOT, 'scripts/deploy/troubleshooting.md'), 'utf8')
const sources = readdirSync(path.join(ROOT, 'runtime'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => readFileSync(path.join(ROOT, 'runtime', file), 'utf8'))
const saidSomewhere = (text: string): boolean => sources.some((source) => source.includes(text))

const quoted = [...page.matchAll(/“([^”]+)”/g)].map(([, text = '']) => text.replace(/^…\s*/, ''))
const words = [...page.matchAll(/`([A-Z]+(?:_[A-Z]+)+|[a-z]+(?:_[a-z]+)+)`/g)].map(
  ([, text = '']) => text,
)
const commands = [...page.matchAll(/`keyway ([a-z-]+)([^`]*)`/g)]

test.each([...new Set([...quoted, ...words])])('%s is said by Keyway', (text) => {
  expect(saidSomewhere(text)).toBe(true)
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
