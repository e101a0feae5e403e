/** The short forms of what `npm run soak` does for half an hour, on a machine that does other things too. */
import { execFile } from 'node:child_process'
import path from 'node:path'
import { expect, test } from 'vitest'

const SOAK = path.join(import.meta.dirname, 'soak.ts')

/** Runs the command; what it printed tells what was wrong. */
function run(env: Record<string, string>, ...args: string[]): Promise<string> {
  const { PATH = '', HOME = '' } = process.env
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      ['--no-warnings', SOAK, ...args],
      { env: { PATH, HOME, ...env } },
      (_error, out, errors) => resolve(out + errors),
    )
  })
}

test.runIf(process.platform === 'linux')(
  'mixed traffic with hostile calls in it: right answers, in time, and nothing grows',
  async () => {
    const said = await run({ SECONDS: '30', RATE: '15', LATE_MS: '3000' })
    expect(said).not.toContain('WRONG')
    expect(said).toContain('nothing is wrong')
  },
  180_000,
)

test.runIf(process.platform === 'linux')(
  'some thousand lists by 32 callers: one isolate, and no growth',
  async () => {
    const said = await run({ CALLS: '2500' }, '--lists')
    expect(said).toContain(': 1 isolates')
    expect(said).toContain('nothing is wrong')
  },
  120_000,
)
