/**
 * `keyway check --update`: updates the expectations of cases to the current responses, after the author has
 * reviewed them.
 */
import { randomUUID } from 'node:crypto'
import { rename, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { ConfigError } from '../config/config.ts'
import { visible } from '../observe/visible.ts'
import type { CheckBench } from '../testing/check-connector.ts'
import { CASES_FILE } from '../testing/read-cases.ts'
import { updatesOf } from '../testing/record/update-cases.ts'
import { counted } from './terminal/counted.ts'
import { canAsk, isAgreed } from './terminal/is-agreed.ts'

/**
 * Rewrites the cases of a folder whose responses have changed. The differences have already been printed.
 *
 * @returns whether anything was written
 * @throws ConfigError for a package, and if `yes` is not given and there is no terminal
 */
export async function update(
  bench: CheckBench,
  folder: string,
  { yes, json }: { yes?: true; json?: true },
): Promise<boolean> {
  const { loaded } = await bench.build(folder)
  if (loaded === null) return false
  const { names, text } = await updatesOf(loaded, loaded)
  const say = (line: string) => void (json || console.log(visible(line)))
  if (names.length === 0) {
    say('Nothing to update: the failures are not only different responses.')
    return false
  }
  const cases = counted(names.length, 'case')
  if (!yes) {
    say(`${cases} would expect the current responses: ${names.join(', ')}`)
    if (!(await isWanted())) return false
  }
  // Written atomically.
  const file = path.join(folder, CASES_FILE)
  const beside = `${file}.${randomUUID()}.part`
  await writeFile(beside, text)
  await rename(beside, file)
  say(`Updated ${cases} to the current responses: ${names.join(', ')}`)
  return true
}

function isWanted(): Promise<boolean> {
  if (!canAsk())
    throw new ConfigError(
      'there is no terminal to ask on: look at the differences above, then add --yes',
    )
  return isAgreed('Update them? [y/N] ')
}
