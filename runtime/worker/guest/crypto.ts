import { fromBase64 } from './bytes.ts'
import { askOrThrow, DOMException } from './dom-exception.ts'
import { SubtleCrypto } from './subtle.ts'

const MAX_RANDOM = 65536
const INTEGER_VIEWS = [
  Int8Array,
  Uint8Array,
  Uint8ClampedArray,
  Int16Array,
  Uint16Array,
  Int32Array,
  Uint32Array,
  BigInt64Array,
  BigUint64Array,
]

/** Fills an integer array from the host's random source, at most 64 KiB at once, as on the web. */
function getRandomValues<T extends ArrayBufferView>(array: T): T {
  if (!INTEGER_VIEWS.some((kind) => array instanceof kind))
    throw new DOMException('random values need an integer array', 'TypeMismatchError')
  if (array.byteLength > MAX_RANDOM) {
    throw new DOMException(
      `${array.byteLength} random bytes are over the limit of ${MAX_RANDOM}`,
      'QuotaExceededError',
    )
  }
  const random = fromBase64(askOrThrow('random', [array.byteLength]))
  new Uint8Array(array.buffer, array.byteOffset, array.byteLength).set(random)
  return array
}

/** Returns a version 4 UUID. */
export function randomUUID(): string {
  return askOrThrow('uuid', [])
}

/** Global `crypto` of the sandbox. */
export class Crypto {
  readonly subtle: SubtleCrypto = new SubtleCrypto()
  getRandomValues: typeof getRandomValues = getRandomValues
  randomUUID: typeof randomUUID = randomUUID
}
