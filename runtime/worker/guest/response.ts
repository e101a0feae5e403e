import { type Body, bodyText, toBody } from './body.ts'
import { ConnectorError } from './connector-error.ts'
import { Headers } from './headers.ts'
import { HttpMessage, messageBody } from './message.ts'

type ResponseInit = {
  status?: number
  statusText?: string
  headers?: ConstructorParameters<typeof Headers>[0]
}
type Origin = { url: string; redirected: boolean; status: number }

let fromUpstream: (body: Body | null, headers: Headers, origin: Origin) => Response
let nextOrigin: Origin | null = null

/** WHATWG Response, without streams. ctx.fetch resolves with one, too. */
export class Response extends HttpMessage {
  readonly status: number
  readonly statusText: string
  readonly url: string
  readonly redirected: boolean
  readonly type: string
  #upstream: boolean

  static {
    fromUpstream = (body, headers, origin) => {
      nextOrigin = origin
      try {
        return new Response(body, { headers })
      } finally {
        nextOrigin = null
      }
    }
  }

  constructor(body: unknown = null, init: ResponseInit = {}) {
    const origin = nextOrigin
    super(
      // The cast: with an origin the caller is `fromUpstream`, which passes both.
      origin ? (init.headers as Headers) : new Headers(init.headers),
      // The cast: as above.
      origin ? (body as Body) : toBody(body),
    )
    this.#upstream = origin !== null
    this.status = origin ? origin.status : responseStatus(init.status)
    this.statusText = `${init.statusText ?? ''}`
    this.url = origin?.url ?? ''
    this.redirected = origin?.redirected ?? false
    this.type = origin ? 'basic' : 'default'
  }

  static json(data: unknown, init: ResponseInit = {}): Response {
    const headers = new Headers(init.headers)
    if (!headers.has('content-type')) headers.set('content-type', 'application/json')
    return new Response(JSON.stringify(data), { ...init, headers })
  }

  get ok(): boolean {
    return this.status >= 200 && this.status <= 299
  }

  override async json(): ReturnType<HttpMessage['json']> {
    try {
      return await super.json()
    } catch (error) {
      if (!this.#upstream || !(error instanceof SyntaxError)) throw error
      throw notJson(this)
    }
  }

  clone(): Response {
    const body = messageBody(this)
    const headers = new Headers(this.headers)
    if (this.#upstream) return fromUpstream(body, headers, this)
    return new Response(body?.content ?? null, {
      status: this.status,
      statusText: this.statusText,
      headers,
    })
  }
}

/** Makes the response of an upstream. Its headers and status are not checked. */
export function upstreamResponse(body: Body, headers: Headers, origin: Origin): Response {
  return fromUpstream(body, headers, origin)
}

function responseStatus(status = 200): number {
  if (Number.isInteger(status) && status >= 200 && status <= 599) return status
  throw new RangeError(`a response status is 200 to 599, not ${status}`)
}

function notJson(response: Response): ConnectorError {
  const address = response.url.split(/[?#]/, 1)[0]
  const text = bodyText(messageBody(response))
  const found =
    text === ''
      ? 'the body is empty'
      : `the body is ${response.headers.get('content-type') ?? 'of no declared type'}, ${text.length} characters`
  const message = `[${response.status}][${address}] expected JSON, but ${found}`
  return new ConnectorError('invalid_response', message, { status_code: response.status })
}
