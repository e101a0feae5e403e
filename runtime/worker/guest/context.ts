import type { Context, GuestAbortSignal, UpstreamReply } from '../../contract/connector/context.ts'
import { AbortController } from './abort.ts'
import { toBase64 } from './bytes.ts'
import type { GuestCall } from './calls.ts'
import { ConnectorError } from './connector-error.ts'
import { fetchFor } from './fetch.ts'
import { makeLdap } from './ldap.ts'
import { writeLog } from './log.ts'
import { isObject, own } from './own.ts'
import { now, ownKeys } from './primordials.ts'
import { makeSigning } from './sign.ts'
import { makeSql } from './sql.ts'
import { encodeUtf8 } from './utf8.ts'

/** Makes the second argument of a handler. It belongs to the plugin: trusted code never reads it back. */
export function makeContext(call: GuestCall, input: unknown): Context {
  const auth = own(input, 'auth') ?? undefined
  const credentials = own(input, 'credentials') ?? {}
  const wantsRaw = own(input, 'raw') !== false
  // The cast: the host sends values that the schemas of the envelope and the manifest have parsed.
  const given = {
    auth,
    credentials,
    settings: own(input, 'settings'),
    page: own(input, 'page'),
  } as Pick<Context, 'auth' | 'credentials' | 'settings' | 'page'>
  return {
    // The cast: authors see fewer members of a reply than exist.
    fetch: (url, init) => fetchFor(call, url, init) as unknown as Promise<UpstreamReply>,
    ldap: makeLdap(call),
    sql: makeSql(call),
    ...given,
    raw: (value: unknown): void => {
      if (call.ended || !wantsRaw) return
      call.raw = value
      call.hasRaw = true
    },
    log: {
      debug: (message, fields) => writeLog(call, 'debug', message, fields),
      info: (message, fields) => writeLog(call, 'info', message, fields),
      warn: (message, fields) => writeLog(call, 'warn', message, fields),
      error: (message, fields) => writeLog(call, 'error', message, fields),
    },
    get signal() {
      call.controller ??= abortedLike(call)
      // The cast: authors see fewer members of a signal than exist.
      return call.controller.signal as unknown as GuestAbortSignal
    },
    basic: (user, password) => basic(auth, credentials, user, password),
    sign: makeSigning(own(input, 'marks')),
    exchange: exchangeOf(input),
    now: () => now(),
  }
}

function exchangeOf(input: unknown): string | undefined {
  const placeholder = own(input, 'exchange')
  return typeof placeholder === 'string' ? placeholder : undefined
}

function abortedLike(call: GuestCall): AbortController {
  const controller = new AbortController()
  if (call.aborted) controller.abort()
  return controller
}

function basic(auth: unknown, credentials: unknown, user?: string, password?: string): string {
  if (user !== undefined) return authorization(`${user}`, `${password ?? ''}`)
  const found = own(auth, 'basic') ?? onlyBasic(credentials)
  if (isObject(found))
    return authorization(`${own(found, 'username')}`, `${own(found, 'password') ?? ''}`)
  throw new ConnectorError(
    'integration_missing_parameter',
    'ctx.basic() needs the call to have one basic credential; pass user and password instead',
  )
}

function onlyBasic(credentials: unknown): unknown {
  if (!isObject(credentials)) return undefined
  const keys = ownKeys(credentials)
  let found: unknown
  for (let i = 0; i < keys.length; i += 1) {
    const key = keys[i]
    const candidate = typeof key === 'string' ? own(own(credentials, key), 'basic') : undefined
    if (candidate === undefined || candidate === null) continue
    if (found !== undefined) return undefined
    found = candidate
  }
  return found
}

function authorization(user: string, password: string): string {
  return `Basic ${toBase64(encodeUtf8(`${user}:${password}`))}`
}
