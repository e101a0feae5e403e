/** Verbs for personal data. */

import { ConfigError } from '../../config/config.ts'
import type { PersonErased, PersonExport } from '../../contract/endpoints/personal-data.ts'
import { visible } from '../../observe/visible.ts'
import { counted } from '../terminal/counted.ts'
import { isAgreed } from '../terminal/is-agreed.ts'
import { terminalJson } from '../terminal/json.ts'
import type { ReadFlags } from '../terminal/options.ts'
import { ask, print } from './change.ts'

/** Prints all data about a person. */
export async function exported(email: string, flags: ReadFlags): Promise<void> {
  const answer = await ask<PersonExport>(flags, '/operator/people/export', { body: { email } })
  print(flags, answer, (one) => terminalJson(one))
  if (answer.cut.length > 0)
    console.error(`Not all rows are shown of: ${answer.cut.join(', ')}; each shows 5,000.`)
}

type EraseFlags = ReadFlags & { yes?: true; dryRun?: true }

/** Shows what would be erased, asks for confirmation, and erases it. */
export async function erase(email: string, flags: EraseFlags): Promise<void> {
  const { yes, dryRun, json } = flags
  const send = (dry_run: boolean) =>
    ask<PersonErased>(flags, '/operator/people/erase', { body: { email, dry_run } })
  if (dryRun || !yes) {
    const would = await send(true)
    if (dryRun) return print(flags, would, (one) => words(one))
    if (!json) console.log(visible(words(would)))
    if (json || !(await isAgreed('Erase this person? It cannot be undone. [y/N] ')))
      throw new ConfigError('Nothing was erased; --yes erases without asking')
  }
  print(flags, await send(false), (one) => words(one))
}

function words({ changed, person, erased, kept }: PersonErased): string {
  return [
    changed ? `Erased: ${person.email}` : `Would be erased (nothing was): ${person.email}`,
    ...erased.map(({ what, count }) => `  ${what}: ${counted(count, 'row')}`),
    changed ? 'Kept:' : 'Would be kept:',
    ...kept.map(({ what, why }) => `  ${what}: ${why}`),
  ].join('\n')
}
