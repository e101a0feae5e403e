/** The short form of what `npm run faults` does with every fault for fifteen seconds. */
import { execFile } from 'node:child_process'
import path from 'node:path'
import { expect, test } from 'vitest'

const PROGRAM = path.join(import.meta.dirname, 'faults.ts')

function run(env: Record<string, string>): Promise<string> {
  const { PATH = '', HOME = '' } = process.env
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      ['--no-warnings', PROGRAM],
      { env: { PATH, HOME, ...env } },
      (_error, out, errors) => resolve(out + errors),
    )
  })
}

test.runIf(process.platform === 'linux')(
  'an outage, alone and together with the database, loses nothing and needs nobody',
  async () => {
    const said = await run({ FAULTS: 'short', LAST_MS: '4000' })
    expect(said).not.toContain('WRONG')
    expect(said).toContain('nothing is wrong')
  },
  240_000,
)
