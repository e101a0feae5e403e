import { expect, test } from 'vitest'
import { createProgram, verbsOf } from '../../runtime/cli/program.ts'

/** What `keyway distrust ...args` is asked to distrust, and why. */
async function asked(...args: string[]): Promise<unknown[]> {
  const program = createProgram()
  const verb = verbsOf(program).find(({ name }) => name === 'distrust')
  if (!verb) throw new Error('there is no such verb')
  const seen: unknown[] = []
  verb.command.action((key: string, { reason }: { reason?: string }) => void seen.push(key, reason))
  for (const command of [program, verb.command])
    command.exitOverride().configureOutput({ writeErr: () => {} })
  await program.parseAsync(['distrust', ...args], { from: 'user' })
  return seen
}

test.each([
  '3q2-7wQx0o9bYc1TfE5aZg',
  '-q2-7wQx0o9bYc1TfE5aZg',
  '--2-7wQx0o9bYc1TfE5aZg',
  '-Vq2-7wQx0o9bYc1TfE5aZ',
  '-hq2-7wQx0o9bYc1TfE5aZ',
])('the id of a key %s is an operand, wherever it stands', async (key) => {
  expect(await asked(key, '--reason', 'it leaked')).toEqual([key, 'it leaked'])
  expect(await asked('--reason', 'it leaked', key)).toEqual([key, 'it leaked'])
})

test.each(['--resaon', '-q'])(
  'an option %s that the verb does not have is refused',
  async (flag) => {
    await expect(asked('3q2-7wQx0o9bYc1TfE5aZg', flag)).rejects.toThrow(/unknown option/)
  },
)
