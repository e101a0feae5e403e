import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { ERROR_CODES } from '../../../runtime/contract/errors/error-codes.ts'
import { ERRORS, type RuntimeCode, RuntimeError } from '../../../runtime/contract/errors/errors.ts'

const RUNTIME = path.join(import.meta.dirname, '../../../runtime')
const DESIGNED = 25

const sources = readdirSync(RUNTIME, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && file !== path.join('contract', 'errors', 'errors.ts'))
  .map((file) => readFileSync(path.join(RUNTIME, file), 'utf8'))

test(`there are ${DESIGNED} codes on the wire, each once`, () => {
  expect(new Set(ERROR_CODES).size).toBe(DESIGNED)
  expect(ERROR_CODES).toHaveLength(DESIGNED)
})

describe('the row', () => {
  const codes = Object.keys(ERRORS) as RuntimeCode[]

  test.each(codes)('%s has a code on the wire and a meaning', (code) => {
    const { wire, meaning } = ERRORS[code]
    expect(ERROR_CODES).toContain(wire)
    expect(meaning).toMatch(/^\S.{10,}[^.]$/)
  })

  test.each(codes)('%s is raised somewhere', (code) => {
    expect(sources.filter((text) => text.includes(`'${code}'`)).length).toBeGreaterThan(0)
  })

  test.each(codes)('%s is an HTTP failure only outside the envelope', (code) => {
    const { refusal, raisedBy } = ERRORS[code]
    if (refusal !== undefined) expect(raisedBy).toBeNull()
  })
})

test('an error carries its code, details and cause', () => {
  const cause = new Error('inner')
  const error = new RuntimeError('internal', 'text', { statusCode: 5 }, cause)
  expect(error).toMatchObject({
    name: 'RuntimeError',
    code: 'internal',
    details: { statusCode: 5 },
    cause,
  })
  expect(Object.hasOwn(new RuntimeError('internal', 'text'), 'cause')).toBe(false)
})
