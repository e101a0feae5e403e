import { bytesOf, concatBytes, isByteSource } from './bytes.ts'
import { isObject } from './own.ts'
import { decodeUtf8, encodeUtf8 } from './utf8.ts'

let read: (blob: Blob) => Uint8Array<ArrayBuffer>
let brand: (value: object) => boolean

/** WHATWG Blob without streams. */
export class Blob {
  readonly type: string
  #bytes: Uint8Array<ArrayBuffer>

  static {
    read = (blob) => blob.#bytes
    brand = (value) => #bytes in value
  }

  constructor(parts: Iterable<unknown> = [], options: { type?: string } = {}) {
    this.#bytes = concatBytes([...parts].map(partBytes))
    const type = `${options.type ?? ''}`
    this.type = /^[\x20-\x7e]*$/.test(type) ? type.toLowerCase() : ''
  }

  get size(): number {
    return this.#bytes.length
  }

  slice(start?: number, end?: number, type = ''): Blob {
    return new Blob([this.#bytes.slice(start, end)], { type })
  }

  async text(): Promise<string> {
    return decodeUtf8(this.#bytes)
  }

  async bytes(): Promise<Uint8Array> {
    return this.#bytes.slice()
  }

  async arrayBuffer(): Promise<ArrayBuffer> {
    return this.#bytes.slice().buffer
  }
}

/** WHATWG File. */
export class File extends Blob {
  readonly name: string
  readonly lastModified: number

  constructor(
    parts: Iterable<unknown>,
    name: string,
    options: { type?: string; lastModified?: number } = {},
  ) {
    super(parts, options)
    this.name = `${name}`.toWellFormed()
    this.lastModified = options.lastModified ?? Date.now()
  }
}

/** Reports whether a value is a Blob or File of the sandbox. */
export function isBlob(value: object): value is Blob {
  return brand(value)
}

/** Returns the bytes of a blob, not copied. */
export function blobBytes(blob: Blob): Uint8Array<ArrayBuffer> {
  return read(blob)
}

function partBytes(part: unknown): Uint8Array {
  if (isByteSource(part)) return bytesOf(part)
  if (isObject(part) && isBlob(part)) return read(part)
  return encodeUtf8(`${part}`)
}
