import { AbortController, type AbortSignal } from './abort.ts'
import { toBody } from './body.ts'
import { Headers } from './headers.ts'
import { HttpMessage, messageBody } from './message.ts'
import { isObject } from './own.ts'
import { URL } from './url.ts'

/** Options of Request and ctx.fetch. */
export type RequestInit = {
  method?: string
  headers?: ConstructorParameters<typeof Headers>[0]
  body?: unknown
  redirect?: string
  signal?: AbortSignal | null
}

const METHOD = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const REDIRECTS = ['follow', 'manual', 'error']
let brand: (value: object) => value is Request

/** WHATWG Request, without streams, modes and caches. */
export class Request extends HttpMessage {
  readonly url: string
  readonly method: string
  readonly redirect: string
  readonly signal: AbortSignal
  #request = true

  static {
    brand = (value): value is Request => #request in value
  }

  constructor(input: string | URL | Request, init: RequestInit = {}) {
    const from = isObject(input) && brand(input) ? input : null
    const method = requestMethod(init.method ?? from?.method)
    const given = init.body === undefined && from ? messageBody(from) : toBody(init.body)
    if (given && (method === 'GET' || method === 'HEAD')) throw bodyRefused(method)
    super(new Headers(init.headers ?? from?.headers), given)
    this.url = from ? from.url : new URL(`${input}`).href
    this.method = method
    this.redirect = requestRedirect(init.redirect ?? from?.redirect)
    this.signal = init.signal ?? from?.signal ?? new AbortController().signal
  }

  clone(): Request {
    return new Request(this)
  }
}

/** Reports whether a value is a Request of the sandbox. */
export function isRequest(value: object): value is Request {
  return brand(value)
}

/**
 * Returns a method in capitals. GET is the default.
 *
 * @throws TypeError if it is not an HTTP method
 */
export function requestMethod(method: unknown): string {
  if (method === undefined) return 'GET'
  const text = `${method}`
  if (!METHOD.test(text)) throw new TypeError(`${JSON.stringify(text)} is not an HTTP method`)
  return text.toUpperCase()
}

/**
 * Returns a redirect mode. `follow` is the default.
 *
 * @throws TypeError if there is no such mode
 */
export function requestRedirect(redirect: unknown): string {
  const mode = redirect === undefined ? 'follow' : `${redirect}`
  if (!REDIRECTS.includes(mode))
    throw new TypeError(`redirect is follow, manual or error, not ${JSON.stringify(mode)}`)
  return mode
}

/** Makes the error for a body where HTTP allows none. */
export function bodyRefused(method: string): TypeError {
  return new TypeError(`a ${method} request cannot have a body`)
}
