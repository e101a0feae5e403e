/** Returns the value at a JSON Pointer (RFC 6901), or undefined if there is none. Finds own members only. */
import { isRecord } from './record.ts'

export function pointedAt(value: unknown, pointer: string): unknown {
  let found = value
  for (const part of pointer.split('/').slice(1)) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~')
    found = isRecord(found) && Object.hasOwn(found, name) ? found[name] : undefined
  }
  return found
}

/** Reports whether a text is a JSON Pointer to a member. */
export const isPointer = (text: string): boolean => /^(\/([^~/]|~[01])*)+$/.test(text)
