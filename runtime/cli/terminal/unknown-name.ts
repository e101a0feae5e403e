/** Error message for a name or id that the host does not know, with where the valid ones are listed. */
import { NAMED, type Named } from './named-arguments.ts'

/** Path pattern -> kind of name in the path. */
const PATHS: readonly (readonly [RegExp, Named])[] = [
  [/^\/operator\/(connectors|packages)\b|^\/connectors\b/, 'connector'],
  [/^\/operator\/(generations|rollback)\b/, 'generation'],
  [/^\/operator\/publishers\b/, 'publisher'],
  [/^\/operator\/webhooks\b/, 'webhook'],
  [/^\/operator\/syncs\b/, 'run'],
  [/^\/operator\/apps\b|^\/apps\b/, 'app'],
  [/^\/access_reviews\b/, 'review'],
  [/^\/operator\/login-links\b/, 'user'],
  [/^\/operator\/people\b/, 'user'],
]

/** Returns the message of a 404, with where to find the valid names. */
export function notThere(path: string, message: string): string {
  const [, kind] = PATHS.find(([pattern]) => pattern.test(path)) ?? []
  return kind === undefined ? sentence(message) : unknownName(kind, message)
}

/**
 * Returns a message about an unknown name, with where to find the valid ones, unless it already contains
 * that.
 */
export function unknownName(kind: Named, message: string): string {
  const text = sentence(message)
  return /\bkeyway\b/.test(text) ? text : `${text}; ${NAMED[kind]}`
}

// A message that begins with a name is not changed.
const sentence = (message: string): string => message.replace(/^there /, 'There ')
