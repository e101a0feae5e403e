/** A system's response as a sentence: people who read a task need no JSON. */

/** Message as upstream-status.ts builds it: status, address, text from the system. */
const ANSWERED = /^\[(\d{3})\]\[[^\]]*\] ?([\s\S]*)$/

/** Hint that the host appends. */
const HINT = / \(try again after [^()]{1,100}\)$/

/** Paths in a JSON body that may hold prose. The first match wins. */
const PROSE = [
  ['detail'],
  ['error_description'],
  ['message'],
  ['error', 'message'],
  ['errors', '0', 'message'],
  ['errors', '0', 'detail'],
  ['errorSummary'],
  ['reason'],
  ['title'],
  ['error'],
  ['errors', '0'],
] as const

/** Maximum length of a body that is parsed as JSON, in characters. Upstream texts are shorter. */
const MAX_BODY = 20_000

/** Returns a failure's message without JSON and addresses. A message with neither is returned unchanged. */
export function plainWords(message: string): string {
  const [, status, text = message] = ANSWERED.exec(message) ?? []
  const hint = HINT.exec(text)?.[0] ?? ''
  const said = proseOf(text.slice(0, text.length - hint.length).trim())
  if (status === undefined) return said === null ? 'the system gave no reason' : `${said}${hint}`
  return `the system answered ${status}${said ? `: ${said}` : ''}${hint}`
}

/** Returns the prose of a body, or null for JSON that has none or is truncated. */
function proseOf(body: string): string | null {
  if (!/^(\{\s*["}]|\[\s*[[{\]"])/.test(body)) return body
  let json: unknown
  try {
    json = JSON.parse(body.slice(0, MAX_BODY))
  } catch {
    return null
  }
  for (const path of PROSE) {
    const found = path.reduce<unknown>(
      (value, name) =>
        typeof value === 'object' && value !== null && Object.hasOwn(value, name)
          ? Reflect.get(value, name)
          : undefined,
      json,
    )
    if (typeof found === 'string' && found.trim() !== '') return found.trim()
  }
  return null
}
