import { expect, test } from 'vitest'
import { RuntimeError } from '../../runtime/contract/errors/errors.ts'
import { withRedactedCause } from '../../runtime/invoke/redact-error.ts'
import { createRedact } from '../../runtime/redact/redact.ts'

const redact = createRedact(() => ['the-secret-token'])

test('text of a call that an engine error quotes is redacted and truncated', () => {
  const engine = new SyntaxError(`Invalid: /the-secret-token${'x'.repeat(900_000)}/`)
  const inner = new RuntimeError('internal', 'the request could not be made', {}, engine)
  const told = withRedactedCause(
    new RuntimeError('internal', 'the request could not be made', { raisedIn: 'a' }, inner),
    redact,
  ) as RuntimeError
  const cause = told.cause as Error & { cause: Error }
  const texts = [cause, cause.cause].flatMap(({ message, stack }) => [message, String(stack)])
  expect(texts.join('')).not.toContain('the-secret-token')
  expect(texts.join('').length).toBeLessThan(25_000)
  expect(cause.cause.name).toBe('SyntaxError')
  expect(cause.cause.message).toMatch(/^Invalid: \/\[secret\]x/)
  expect(told).toMatchObject({ code: 'internal', details: { raisedIn: 'a' } })
})

test('an error of another class keeps its class and its code', () => {
  const full = Object.assign(new TypeError('no the-secret-token left'), { code: 'ENOMEM' })
  expect(withRedactedCause(full, redact)).toBe(full)
  expect(full).toMatchObject({ message: 'no [secret] left', code: 'ENOMEM' })
  expect(full.stack).not.toContain('the-secret-token')
})
