/**
 * Error text for input that is not JSON. It never includes the engine's message, which quotes a part of the
 * input.
 */
/** Returns the position of the syntax error in characters, or null if the engine does not report one. */
export function jsonFaultOf(error: unknown): number | null {
  const position = /position (\d+)/.exec(String(error))?.[1]
  return position === undefined ? null : Number(position)
}

/** Parses a text. Returns undefined if it is not JSON. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Returns the error text, such as `the body is not JSON: the fault is at character 12`. */
export function notJson(what: string, error: unknown): string {
  const at = jsonFaultOf(error)
  return `${what} is not JSON${at === null ? '' : `: the fault is at character ${at}`}`
}
