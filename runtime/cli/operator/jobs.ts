/** `keyway jobs`: lists background work. */
import type { JobRecord } from '../../contract/endpoints/jobs.ts'
import type { ReadFlags } from '../terminal/options.ts'
import { ask, print } from './change.ts'

type JobsFlags = ReadFlags & { limit: number; queue?: string; state?: string }

export async function jobs(flags: JobsFlags): Promise<void> {
  const query = new URLSearchParams({ limit: String(flags.limit) })
  if (flags.queue) query.set('queue', flags.queue)
  if (flags.state) query.set('state', flags.state)
  const answer = await ask<{ items: JobRecord[] }>(flags, `/operator/jobs?${query}`)
  print(flags, answer, ({ items }) =>
    items.length === 0 ? noneOf(flags) : items.map(words).join('\n'),
  )
}

function words({ created_at, queue, key, state, tries, problem }: JobRecord): string {
  const again = tries > 0 ? `, try ${tries + 1}` : ''
  return `${created_at}  ${queue} ${key}  ${state}${again}${problem ? `: ${problem}` : ''}`
}

const noneOf = ({ queue, state }: { queue?: string | undefined; state?: string | undefined }) =>
  queue === undefined && state === undefined
    ? 'There are no background jobs yet.'
    : 'There are no such jobs; keyway jobs shows those of every queue and state.'
