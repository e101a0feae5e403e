import { blobBytes, File, isBlob } from './blob.ts'
import { concatBytes } from './bytes.ts'
import { isObject } from './own.ts'
import { encodeUtf8 } from './utf8.ts'

type Value = string | File
type Pair = [string, Value]

let brand: (value: object) => boolean

/** WHATWG FormData. As a fetch body it is sent as multipart/form-data. */
export class FormData {
  #pairs: Pair[] = []

  static {
    brand = (value) => #pairs in value
  }

  append(name: string, value: unknown, filename?: string): void {
    this.#pairs.push([usv(name), toValue(value, filename)])
  }

  delete(name: string): void {
    this.#pairs = this.#pairs.filter(([key]) => key !== usv(name))
  }

  get(name: string): Value | null {
    return this.#pairs.find(([key]) => key === usv(name))?.[1] ?? null
  }

  getAll(name: string): Value[] {
    return this.#pairs.filter(([key]) => key === usv(name)).map(([, value]) => value)
  }

  has(name: string): boolean {
    return this.#pairs.some(([key]) => key === usv(name))
  }

  set(name: string, value: unknown, filename?: string): void {
    const key = usv(name)
    const first = this.#pairs.find(([other]) => other === key)
    if (first === undefined) {
      this.append(name, value, filename)
      return
    }
    first[1] = toValue(value, filename)
    this.#pairs = this.#pairs.filter((pair) => pair === first || pair[0] !== key)
  }

  forEach(visit: (value: Value, name: string, all: this) => void, self?: unknown): void {
    for (const [name, value] of this) visit.call(self, value, name, this)
  }

  *entries(): IterableIterator<Pair> {
    for (const [name, value] of this.#pairs) yield [name, value]
  }

  *keys(): IterableIterator<string> {
    for (const [name] of this.#pairs) yield name
  }

  *values(): IterableIterator<Value> {
    for (const [, value] of this.#pairs) yield value
  }

  [Symbol.iterator](): IterableIterator<Pair> {
    return this.entries()
  }
}

/** Reports whether a value is a FormData of the sandbox. */
export function isFormData(value: object): value is FormData {
  return brand(value)
}

/**
 * Encodes a form as multipart/form-data: as text if it holds no file (so that the host can read it), else as
 * bytes. Line ends and quotes follow the HTML standard's multipart encoding.
 */
export function encodeMultipart(
  form: FormData,
  boundary: string,
): string | Uint8Array<ArrayBuffer> {
  const parts: (string | Uint8Array)[] = []
  for (const [name, value] of form) {
    const disposition = `--${boundary}\r\nContent-Disposition: form-data; name="${quoteName(crlf(name))}"`
    if (typeof value === 'string') parts.push(`${disposition}\r\n\r\n${crlf(value)}\r\n`)
    else {
      const type = value.type || 'application/octet-stream'
      parts.push(
        `${disposition}; filename="${quoteName(value.name)}"\r\nContent-Type: ${type}\r\n\r\n`,
        blobBytes(value),
        '\r\n',
      )
    }
  }
  parts.push(`--${boundary}--\r\n`)
  if (parts.every((part) => typeof part === 'string')) return parts.join('')
  return concatBytes(parts.map((part) => (typeof part === 'string' ? encodeUtf8(part) : part)))
}

function toValue(value: unknown, filename: string | undefined): Value {
  if (!isObject(value) || !isBlob(value)) return usv(value)
  if (value instanceof File && filename === undefined) return value
  const name = filename ?? 'blob'
  const { lastModified = Date.now() } = value instanceof File ? value : {}
  return new File([value], name, { type: value.type, lastModified })
}

function usv(value: unknown): string {
  return `${value}`.toWellFormed()
}

function crlf(text: string): string {
  return text.replace(/\r\n|\r|\n/g, '\r\n')
}

function quoteName(name: string): string {
  return name.replaceAll('\r', '%0D').replaceAll('\n', '%0A').replaceAll('"', '%22')
}
