import { Writable } from 'node:stream'
import { DrizzleQueryError } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { createLog, readableLog } from '../../runtime/observe/log.ts'

const ESCAPE = '\u001b[31m'
const CSI = '\u009b31m'
const FORGED = '\n[12:00:00.000] INFO: all is well'

test('a failed query is logged without its values', () => {
  const lines: string[] = []
  const log = createLog('info', { write: (line) => void lines.push(line) })
  const values = ['ada@example.com', 'a-hash, with: signs\nand lines']
  const failed = new DrizzleQueryError('insert into users', values, new Error('it is away'))
  log.error({ err: failed }, 'failed')
  log.error({ err: new Error('outer', { cause: failed }) }, 'failed')
  expect(lines.join('')).toContain('insert into users')
  expect(lines.join('')).toContain('it is away')
  expect(lines.join('')).not.toMatch(/ada@|a-hash|and lines/)
})

test('on a terminal, untrusted text can neither move the cursor nor forge a log line', () => {
  const chunks: string[] = []
  const destination = new Writable({
    write(chunk, _encoding, done) {
      chunks.push(String(chunk))
      done()
    },
  })
  const log = readableLog('info', destination)
  const path = `/${ESCAPE}${CSI}\u202e${FORGED}`
  log.info({ path, err: new Error(`${ESCAPE}${CSI}\r${FORGED}`) }, `says ${path}`)
  const text = chunks.join('')
  expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/)
  expect(text).toContain('says /\\u001b[31m')
  expect(text.match(/^\[/gm)).toHaveLength(1)
})

test('long messages of errors are truncated, and so is the message of a line', () => {
  const lines: string[] = []
  const log = createLog('info', { write: (line) => void lines.push(line) })
  const huge = 'x'.repeat(1_000_000)
  log.error({ err: new Error(huge, { cause: new SyntaxError(huge) }) }, `it failed: ${huge}`)
  const [line = ''] = lines
  expect(line.length).toBeLessThan(50_000)
  expect(JSON.parse(line).msg).toMatch(/^it failed: x+ \[980011 more characters\]$/)
  expect(JSON.parse(line).err.type).toBe('Error')
})
