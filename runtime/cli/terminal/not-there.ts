/** Error text for a name or id that the host does not know: says where the valid ones are listed. */
import { NAMED, type Named } from './named.ts'

/** Path pattern -> what the path names. */
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

/** The message of a 404, extended by where to look. */
export function notThere(path: string, message: string): string {
  const [, kind] = PATHS.find(([pattern]) => pattern.test(path)) ?? []
  return kind === undefined ? sentence(message) : unknownName(kind, message)
}

/** A message about an unknown name, extended by where to look, unless it says so itself. */
export function unknownName(kind: Named, message: string): string {
  const text = sentence(message)
  return /\bkeyway\b/.test(text) ? text : `${text}; ${NAMED[kind]}`
}

// A message that begins with a name keeps it as it is.
const sentence = (message: string): string => message.replace(/^there /, 'There ')
