/** `keyway call`: one capability call with somebody's credentials, all of its pages if wished. */
import { ConfigError, readConfig } from '../../config.ts'
import { visible } from '../../contract/visible.ts'
import { counted } from '../counted.ts'
import { findOperator } from '../operator-client.ts'
import { progressLine } from '../progress.ts'
import type { ReadFlags } from './change.ts'
import { askFor, type Envelope, envelopeOf, type Info, jsonOf } from './envelope.ts'

export type CallFlags = ReadFlags & {
  as?: string
  request?: string
  size?: number
  onePage?: true
  rawData?: true
}

type Answer = {
  is_error?: boolean
  error?: { error_code: string; message: string }
  response: unknown
  raw_data: unknown
  page: { token?: string } | null
}

/** Calls and prints the response; a list whole, unless one page is asked for. Exits with 1 for an error. */
export async function call(id: string, capability: string, flags: CallFlags): Promise<void> {
  const to = await interfaceOf(flags)
  const envelope = await envelopeFor(id, flags, to)
  const request = flags.request === undefined ? {} : await jsonOf(flags.request, '--request')
  const progress = progressLine()
  const items: unknown[] = []
  let page: { size?: number; token?: string } | undefined =
    flags.size === undefined ? undefined : { size: flags.size }
  for (let pages = 1; ; pages += 1) {
    const answer = await send(to, `${id}/${capability}`, {
      request,
      ...envelope,
      ...(page ? { page } : {}),
      include_raw_data: flags.rawData ?? false,
    })
    if (answer.is_error) {
      progress.clear()
      return failed(answer, flags, items.length)
    }
    const isList = Array.isArray(answer.response)
    if (!isList || flags.onePage) {
      progress.clear()
      console.log(JSON.stringify(flags.json || flags.rawData ? answer : answer.response, null, 2))
      if (answer.page?.token)
        console.error('There are more pages; leave out --one-page to follow them.')
      return
    }
    items.push(...(answer.response as unknown[]))
    progress.show(`${counted(pages, 'page')}, ${counted(items.length, 'item')} …`)
    const token = answer.page?.token
    if (token === undefined) break
    page = { ...page, token }
  }
  progress.clear()
  console.log(JSON.stringify(items, null, 2))
}

function failed({ error, ...rest }: Answer, { json }: CallFlags, before: number): void {
  if (json) console.log(JSON.stringify({ ...rest, error }, null, 2))
  else
    console.error(
      visible(
        `${error?.error_code}: ${error?.message}${before > 0 ? ` (after ${counted(before, 'item')})` : ''}`,
      ),
    )
  process.exitCode = 1
}

type Interface = { base: URL; headers: Record<string, string> }

async function interfaceOf({ url }: CallFlags): Promise<Interface> {
  const target = await findOperator(process.env, url)
  const { connectorsPath, connectorToken } = readConfig({
    ...process.env,
    KEYWAY_OPEN_CONNECTORS: '1',
    KEYWAY_SECRET: '',
  })
  return {
    base: new URL(`${connectorsPath}/`, target.url),
    headers: connectorToken === '' ? {} : { authorization: `Bearer ${connectorToken}` },
  }
}

async function envelopeFor(id: string, { as }: CallFlags, to: Interface): Promise<Envelope> {
  if (as !== undefined) return envelopeOf(as)
  const info = await send(to, `${id}/info`, {})
  if (info.is_error) throw new ConfigError(info.error?.message ?? 'info failed')
  return askFor(info.response as Info)
}

async function send({ base, headers }: Interface, path: string, body: object): Promise<Answer> {
  const url = new URL(path.split('/').map(encodeURIComponent).join('/'), base)
  const answer = await fetch(url, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    redirect: 'error',
  }).catch((error: Error) => {
    throw new ConfigError(`${url.origin} does not answer: ${error.message}`)
  })
  try {
    return (await answer.json()) as Answer
  } catch {
    // Somebody else's answer, a proxy's for example.
    throw new ConfigError(`${url.origin} answered ${answer.status}, not as Keyway does`)
  }
}
