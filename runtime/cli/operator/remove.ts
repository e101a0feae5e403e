/** Verbs that take something away. */
import type { Changed } from '../../contract/endpoints/operator.ts'
import type { ChangeFlags } from '../terminal/options.ts'
import { ask, changeQuery, changeWords, print } from './change.ts'

export async function remove(path: string, flags: ChangeFlags): Promise<void> {
  const at = `${path}?${changeQuery(flags)}`
  print(flags, await ask<Changed>(flags, at, { method: 'DELETE' }), changeWords)
}
