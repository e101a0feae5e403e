import { Blob } from './blob.ts'
import { type Body, bodyBytes, bodyText } from './body.ts'
import type { Headers } from './headers.ts'

let read: (message: HttpMessage) => Body | null

/** Common part of Request and Response. The body is complete, so it may be read more than once. */
export class HttpMessage {
  readonly headers: Headers
  #body: Body | null
  #used = false

  static {
    read = (message) => message.#body
  }

  constructor(headers: Headers, body: Body | null) {
    this.headers = headers
    this.#body = body
    if (body?.type && !headers.has('content-type')) headers.set('content-type', body.type)
  }

  get bodyUsed(): boolean {
    return this.#used
  }

  async text(): Promise<string> {
    return bodyText(this.#use())
  }

  // biome-ignore lint/suspicious/noExplicitAny: as in WHATWG fetch, the caller says what the JSON is
  async json(): Promise<any> {
    return JSON.parse(bodyText(this.#use()))
  }

  async bytes(): Promise<Uint8Array> {
    return bodyBytes(this.#use())
  }

  async arrayBuffer(): Promise<ArrayBuffer> {
    return bodyBytes(this.#use()).buffer
  }

  async blob(): Promise<Blob> {
    return new Blob([bodyBytes(this.#use())], { type: this.headers.get('content-type') ?? '' })
  }

  #use(): Body | null {
    this.#used = this.#body !== null
    return this.#body
  }
}

/** Returns the body of a request or response. */
export function messageBody(message: HttpMessage): Body | null {
  return read(message)
}
