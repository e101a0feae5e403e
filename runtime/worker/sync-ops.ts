/**
 * The synchronous questions of the guest to the worker: URL parsing, text decoding, random bytes, WebCrypto.
 * They are pure functions of their arguments, with a cap on every size. They keep no state.
 */
import { nodeCrypto } from './node-crypto.ts'
import { subtleOp } from './subtle-ops.ts'
import { ARGS_CHARS, bytes, DATA_BYTES, Refusal, text, tooLong } from './sync-args.ts'

const URL_CHARS = 64 * 1024
const RANDOM_BYTES = 64 * 1024

/** Settable parts of a URL. */
const SETTABLE = [
  ...(['href', 'protocol', 'username', 'password', 'host', 'hostname', 'port'] as const),
  ...(['pathname', 'search', 'hash'] as const),
]

type Op = (args: unknown[]) => string

/** Answers one synchronous question of the guest: '+' and the value, or '!' and a short message. */
export function syncOp(op: string, argsJson: string): string {
  try {
    const run = Object.hasOwn(OPS, op) ? OPS[op] : undefined
    if (run === undefined) throw new Refusal('NotSupportedError: no such operation')
    if (argsJson.length > ARGS_CHARS) throw tooLong('input', DATA_BYTES, 'bytes')
    const args: unknown = JSON.parse(argsJson)
    if (!Array.isArray(args)) throw new Refusal('TypeError: the arguments are not an array')
    return `+${run(args)}`
  } catch (error) {
    return error instanceof Refusal ? `!${error.message}` : '!OperationError: the operation failed'
  }
}

const OPS: Record<string, Op> = {
  url: ([input, base]) => {
    const from = base === null || base === undefined ? undefined : text(base, URL_CHARS, 'base')
    return components(parseUrl(text(input, URL_CHARS, 'address'), from))
  },

  'url.set': ([href, property, value]) => {
    const url = parseUrl(text(href, URL_CHARS, 'address'), undefined)
    const name = text(property, 20, 'property')
    const part = SETTABLE.find((one) => one === name)
    if (part === undefined) throw new Refusal('TypeError: no such part of a URL')
    try {
      url[part] = text(value, URL_CHARS, 'value')
    } catch (error) {
      throw error instanceof Refusal ? error : new Refusal('TypeError: Invalid URL')
    }
    return components(url)
  },

  encoding: ([label]) => decoder(label, false, false).encoding,

  decode: ([base64, label, fatal, ignoreBOM]) => {
    const codec = decoder(label, fatal === true, ignoreBOM === true)
    const data = bytes(base64)
    try {
      return codec.decode(data)
    } catch {
      throw new Refusal(`TypeError: The encoded data was not valid ${codec.encoding}`)
    }
  },

  random: ([count]) => {
    if (typeof count !== 'number' || !Number.isInteger(count) || count < 0)
      throw new Refusal('TypeError: the number of bytes is not a number')
    if (count > RANDOM_BYTES) throw tooLong('number of random bytes', RANDOM_BYTES, 'bytes')
    return nodeCrypto().randomBytes(count).toString('base64')
  },

  uuid: () => nodeCrypto().randomUUID(),

  subtle: ([given]) => subtleOp(given),
}

function decoder(label: unknown, fatal: boolean, ignoreBOM: boolean): TextDecoder {
  try {
    return new TextDecoder(text(label, 100, 'label'), { fatal, ignoreBOM })
  } catch {
    throw new Refusal('RangeError: there is no such encoding')
  }
}

function parseUrl(input: string, base: string | undefined): URL {
  const url = URL.parse(input, base)
  if (url === null) throw new Refusal('TypeError: Invalid URL')
  return url
}

/** Returns the components in the order that runtime/worker/guest/url.ts reads. */
function components(url: URL): string {
  const { href, origin, protocol, username, password, host, hostname, port, pathname } = url
  if (href.length > 4 * URL_CHARS) throw tooLong('address', URL_CHARS, 'characters')
  const parts = [href, origin, protocol, username, password, host, hostname, port, pathname]
  return JSON.stringify([...parts, url.search, url.hash])
}
