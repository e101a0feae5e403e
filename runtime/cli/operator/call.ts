/** `keyway call`: calls one capability with a caller's credentials, and follows its pages if wanted. */

import { visible } from '../../observe/visible.ts'
import { counted } from '../terminal/counted.ts'
import { terminalJson } from '../terminal/json.ts'
import type { ReadFlags } from '../terminal/options.ts'
import { progressLine } from '../terminal/progress.ts'
import { jsonOf } from './envelope.ts'
import {
  addressOf,
  type EnvelopeAnswer,
  envelopeFor,
  errorText,
  type Interface,
  interfaceOf,
  requireCapability,
  send,
} from './interface.ts'

export type CallFlags = ReadFlags & {
  as?: string
  request?: string
  size?: number
  onePage?: true
  rawData?: true
  dryRun?: true
}

/** Capabilities with the same answer for every caller, which need no credentials. */
const NEEDS_NO_CREDENTIALS = ['info', 'app_info']

/**
 * Calls a capability and prints the response: the whole list, unless only one page is wanted. Sets exit code
 * 1 for an error.
 */
export async function call(id: string, capability: string, flags: CallFlags): Promise<void> {
  await callAt(await interfaceOf(flags), id, capability, flags)
}

/** Does the same on a known host. */
export async function callAt(
  to: Interface,
  id: string,
  capability: string,
  flags: CallFlags,
): Promise<void> {
  const body = {
    request: flags.request === undefined ? {} : await jsonOf(flags.request, '--request'),
    ...(NEEDS_NO_CREDENTIALS.includes(capability) ? {} : await envelopeFor(id, flags, to)),
    include_raw_data: flags.rawData ?? false,
  }
  const first = flags.size === undefined ? undefined : { size: flags.size }
  if (flags.dryRun) {
    await requireCapability(to, id, capability)
    const { auth, credentials } = body
    const sent = { ...body, auth: hidden(auth), credentials: hidden(credentials), page: first }
    const url = addressOf(to, id, capability).href
    if (!flags.json) console.error('Would be sent (nothing was):')
    console.log(terminalJson({ method: 'POST', url, body: sent }))
    return
  }
  const progress = progressLine()
  const items: unknown[] = []
  for (let pages = 1, page: object | undefined = first; ; pages += 1) {
    const answer = await send(to, id, capability, { ...body, ...(page ? { page } : {}) })
    if (answer.is_error) {
      progress.clear()
      return failed(answer, flags, items.length)
    }
    const { response } = answer
    if (!Array.isArray(response) || flags.onePage) {
      progress.clear()
      shown(answer, flags)
      if (answer.page?.token)
        console.error('There are more pages; leave out --one-page to follow them.')
      return
    }
    for (const item of response) items.push(item)
    progress.show(`${counted(pages, 'page')}, ${counted(items.length, 'item')} …`)
    const token = answer.page?.token
    if (!token) {
      progress.clear()
      return shown({ ...answer, response: items }, flags)
    }
    page = { ...first, token }
  }
}

const NO_ERROR = { error_code: 'error', message: '', raised_by: null, raised_in: null }

function shown(answer: EnvelopeAnswer, { json, rawData }: CallFlags): void {
  console.log(terminalJson(json || rawData ? answer : answer.response))
}

function failed(answer: EnvelopeAnswer, { json }: CallFlags, before: number): void {
  const { error_code, raised_by, raised_in } = answer.error ?? NO_ERROR
  const after = before > 0 ? ` (after ${counted(before, 'item')})` : ''
  if (json) console.log(terminalJson(answer))
  else {
    const by = raised_by ? `\n  raised by ${raised_by}${raised_in ? ` in ${raised_in}` : ''}` : ''
    console.error(visible(`${error_code}: ${errorText(answer)}${after}${by}`))
  }
  process.exitCode = 1
}

/** Masks every value of the credentials: some are secret, and all belong to a person. */
function hidden(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(hidden)
  if (typeof value !== 'object' || value === null) return value === undefined ? value : '***'
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, hidden(one)]))
}
