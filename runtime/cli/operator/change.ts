/** What all verbs share that change what is installed: how they ask for it, and how they say what they did. */

import type { Changed } from '../../contract/endpoints/operator.ts'
import { visible } from '../../observe/visible.ts'
import { terminalJson } from '../terminal/json.ts'
import type { ChangeFlags, ReadFlags } from '../terminal/options.ts'
import { callOperator, findOperator, type OperatorCall } from './client.ts'

/** The members of a body that every change has. */
export const changeOf = ({ reason, dryRun, expect, waitMs }: ChangeFlags) => ({
  reason: reason ?? '',
  dry_run: dryRun ?? false,
  expected_generation: expect ?? null,
  wait_ms: waitMs,
})

/** The same as a query. */
export function changeQuery({ reason, dryRun, expect, waitMs }: ChangeFlags): URLSearchParams {
  const query = new URLSearchParams({ wait_ms: String(waitMs) })
  if (reason !== undefined) query.set('reason', reason)
  if (dryRun) query.set('dry_run', 'true')
  if (expect !== undefined) query.set('expected_generation', String(expect))
  return query
}

export const connectorPath = (id: string, act = ''): string =>
  `/operator/connectors/${encodeURIComponent(id)}${act === '' ? '' : `/${act}`}`

/** How long the host may take in addition to the wait, in milliseconds: it tries a version before it activates it. */
const WORK_MS = 120_000

type Asked = { method?: OperatorCall['method']; body?: unknown }

/** Asks the host of this environment, or of `--url`; by GET, and by POST where it sends something, unless another method is named. */
export async function ask<T>(
  { url }: ReadFlags,
  path: string,
  { body, method = body === undefined ? 'GET' : 'POST' }: Asked = {},
): Promise<T> {
  const target = await findOperator(process.env, url)
  return callOperator<T>(target, {
    ...{ method, path },
    patienceMs: WORK_MS,
    ...(body === undefined ? {} : { contentType: 'application/json', body: JSON.stringify(body) }),
  })
}

/** Sends a change with a body, and says what became of it. */
export async function change(path: string, flags: ChangeFlags, body: object): Promise<void> {
  const changed = await ask<Changed>(flags, path, { body: { ...body, ...changeOf(flags) } })
  print(flags, changed, changeWords)
}

/** Takes something away, and says what became of it. */
export async function remove(path: string, flags: ChangeFlags): Promise<void> {
  const at = `${path}?${changeQuery(flags)}`
  print(flags, await ask<Changed>(flags, at, { method: 'DELETE' }), changeWords)
}

/** An answer: JSON for machines, text for people. What others wrote moves no cursor. */
export function print<T>(
  { json }: ReadFlags,
  answer: T,
  words: (answer: T, flags?: never) => string,
): void {
  console.log(json ? terminalJson(answer) : visible(words(answer)))
}

/** What a change did. */
export function changeWords({
  generation,
  changed,
  difference,
  converged,
  problems,
}: Changed): string {
  if (difference.length === 0) return `Nothing to do: it is so already (generation ${generation}).`
  const lines = briefly(difference).map((line) => `  ${line}`)
  if (!changed) return ['Would be different (nothing was changed):', ...lines].join('\n')
  const served = converged ? 'served by all hosts' : 'not yet served by all hosts; see keyway nodes'
  const told = problems.map((one) => `  not served: ${one}`)
  return [`Generation ${generation}, ${served}:`, ...lines, ...told].join('\n')
}

/** Lines that offer or use one thing after another, in one. */
export function briefly(lines: readonly string[]): string[] {
  const told: { head: string; rest: string[] }[] = []
  for (const line of lines) {
    const [, head = line, one] = /^(.*\b(?:offer|use)) (.+)$/.exec(line) ?? []
    const last = told.at(-1)
    if (one !== undefined && last?.head === head) last.rest.push(one)
    else told.push({ head, rest: one === undefined ? [] : [one] })
  }
  return told.map(({ head, rest }) => [head, rest.join(', ')].join(' ').trimEnd())
}
