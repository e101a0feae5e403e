import { expect, test } from 'vitest'
import { createProgram, verbsOf } from '../../runtime/cli/program.ts'

/** The key and the reason that `keyway distrust ...args` parses. */
async function asked(...args: string[]): Promise<unknown[]> {
  const program = createProgram()
  const verb = verbsOf(program).find(({ name }) => name === 'distrust')
  if (!verb) throw new Error('the CLI has no such verb')
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
])('the key id %s is parsed as an operand in any position', async (key) => {
  expect(await asked(key, '--reason', 'it leaked')).toEqual([key, 'it leaked'])
  expect(await asked('--reason', 'it leaked', key)).toEqual([key, 'it leaked'])
})

test.each(['--resaon', '-q'])('the unknown option %s is refused', async (flag) => {
  await expect(asked('3q2-7wQx0o9bYc1TfE5aZg', flag)).rejects.toThrow(/unknown option/)
})
