import { type ByteSource, bytesOf, concatBytes, toBase64 } from './bytes.ts'
import { askOrThrow } from './dom-exception.ts'
import { decodeUtf8, encodeUtf8, encodeUtf8Into, incompleteTail } from './utf8.ts'

const UTF8_LABELS = new Set(['utf-8', 'utf8', 'unicode-1-1-utf-8', 'unicode11utf8'])

/** WHATWG TextEncoder. */
export class TextEncoder {
  get encoding(): string {
    return 'utf-8'
  }

  encode(text = ''): Uint8Array {
    return encodeUtf8(`${text}`)
  }

  encodeInto(text: string, bytes: Uint8Array): { read: number; written: number } {
    return encodeUtf8Into(`${text}`, bytes)
  }
}

/**
 * WHATWG TextDecoder. UTF-8 is decoded here. Other encodings are decoded by the host and cannot be streamed.
 */
export class TextDecoder {
  readonly encoding: string
  readonly fatal: boolean
  readonly ignoreBOM: boolean
  #held: Uint8Array = new Uint8Array(0)
  #started = false

  constructor(label = 'utf-8', options: { fatal?: boolean; ignoreBOM?: boolean } = {}) {
    const name = `${label}`.trim().toLowerCase()
    this.encoding = UTF8_LABELS.has(name) ? 'utf-8' : askOrThrow('encoding', [name])
    this.fatal = Boolean(options.fatal)
    this.ignoreBOM = Boolean(options.ignoreBOM)
  }

  decode(source?: ByteSource, options: { stream?: boolean } = {}): string {
    const bytes = source === undefined ? new Uint8Array(0) : bytesOf(source, 'input')
    const stream = Boolean(options.stream)
    if (this.encoding === 'utf-8') return this.#decodeUtf8(bytes, stream)
    if (stream) throw new TypeError(`the sandbox cannot decode ${this.encoding} in a stream`)
    return askOrThrow('decode', [toBase64(bytes), this.encoding, this.fatal, this.ignoreBOM])
  }

  #decodeUtf8(bytes: Uint8Array, stream: boolean): string {
    let all = this.#held.length > 0 ? concatBytes([this.#held, bytes]) : bytes
    const tail = stream ? incompleteTail(all) : 0
    this.#held = all.slice(all.length - tail)
    all = all.subarray(0, all.length - tail)
    const first = !this.#started
    this.#started = stream && (this.#started || all.length > 0)
    try {
      const text = decodeUtf8(all, this.fatal)
      return first && !this.ignoreBOM && text.startsWith('\uFEFF') ? text.slice(1) : text
    } catch (error) {
      this.#started = false
      this.#held = new Uint8Array(0)
      throw error
    }
  }
}
