/** Shared code of all verbs that change what is installed: sending the request, and printing the outcome. */

import type { Changed } from '../../contract/endpoints/operator.ts'
import { visible } from '../../observe/visible.ts'
import { terminalJson } from '../terminal/json.ts'
import type { ChangeFlags, ReadFlags } from '../terminal/options.ts'
import { callOperator, findOperator, type OperatorCall } from './client.ts'

/** Returns the members of the request body that every change has. */
export const changeOf = ({ reason, dryRun, expect, waitMs }: ChangeFlags) => ({
  reason: reason ?? '',
  dry_run: dryRun ?? false,
  expected_generation: expect ?? null,
  wait_ms: waitMs,
})

/** Returns the same as a query string. */
export function changeQuery({ reason, dryRun, expect, waitMs }: ChangeFlags): URLSearchParams {
  const query = new URLSearchParams({ wait_ms: String(waitMs) })
  if (reason !== undefined) query.set('reason', reason)
  if (dryRun) query.set('dry_run', 'true')
  if (expect !== undefined) query.set('expected_generation', String(expect))
  return query
}

export const connectorPath = (id: string, act = ''): string =>
  `/operator/connectors/${encodeURIComponent(id)}${act === '' ? '' : `/${act}`}`

/**
 * Maximum time for the host's work in addition to the wait, in milliseconds: it tries a version before it
 * activates it.
 */
const WORK_MS = 120_000

type Asked = { method?: OperatorCall['method']; body?: unknown }

/**
 * Sends a request to the host of this environment, or of `--url`. The default method is GET, or POST if there
 * is a body.
 */
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

/** Sends a change with a body, and prints the outcome. */
export async function change(path: string, flags: ChangeFlags, body: object): Promise<void> {
  const changed = await ask<Changed>(flags, path, { body: { ...body, ...changeOf(flags) } })
  print(flags, changed, changeWords)
}

/** Removes an item, and prints the outcome. */
export async function remove(path: string, flags: ChangeFlags): Promise<void> {
  const at = `${path}?${changeQuery(flags)}`
  print(flags, await ask<Changed>(flags, at, { method: 'DELETE' }), changeWords)
}

/** Prints a response: JSON for machines, text for people. Text by others cannot move the cursor. */
export function print<T>(
  { json }: ReadFlags,
  answer: T,
  words: (answer: T, flags?: never) => string,
): void {
  console.log(json ? terminalJson(answer) : visible(words(answer)))
}

/** Describes what a change did. */
export function changeWords({
  generation,
  changed,
  difference,
  converged,
  problems,
}: Changed): string {
  if (difference.length === 0) return `Nothing to do: no changes needed (generation ${generation}).`
  const lines = briefly(difference).map((line) => `  ${line}`)
  if (!changed) return ['Would change (nothing was changed):', ...lines].join('\n')
  const served = converged ? 'served by all hosts' : 'not yet served by all hosts; see keyway nodes'
  const told = problems.map((one) => `  not served: ${one}`)
  return [`Generation ${generation}, ${served}:`, ...lines, ...told].join('\n')
}

/** Combines consecutive lines that differ only in the thing that they offer or use. */
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
