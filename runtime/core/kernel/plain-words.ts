/** What a system answered, as a sentence: people who read a task need no JSON. */

/** A message as upstream-status.ts makes it: status, address, what the system wrote. */
const ANSWERED = /^\[(\d{3})\]\[[^\]]*\] ?([\s\S]*)$/

/** What the host puts behind it. */
const HINT = / \(try again after [^()]{1,100}\)$/

/** Members of a JSON body that hold prose, the first one found wins. */
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

/** Longest body that is read as JSON, in characters; upstream texts are shorter. */
const MAX_BODY = 20_000

/** A failure's message without JSON and addresses; one that has neither stays as it is. */
export function plainWords(message: string): string {
  const [, status, text = message] = ANSWERED.exec(message) ?? []
  const hint = HINT.exec(text)?.[0] ?? ''
  const said = proseOf(text.slice(0, text.length - hint.length).trim())
  if (status === undefined) return said === null ? 'the system gave no reason' : `${said}${hint}`
  return `the system answered ${status}${said ? `: ${said}` : ''}${hint}`
}

/** The prose of a body; null of JSON that has none, or was cut off. */
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
