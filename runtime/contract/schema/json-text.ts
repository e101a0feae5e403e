/** What is said of a text that is not JSON: never the engine's own words, which repeat a piece of it. */
/** Where a text stops being JSON, in characters, as far as the engine tells. */
export function jsonFaultOf(error: unknown): number | null {
  const position = /position (\d+)/.exec(String(error))?.[1]
  return position === undefined ? null : Number(position)
}

/** As text: `the body is not JSON: the fault is at character 12`. */
export function notJson(what: string, error: unknown): string {
  const at = jsonFaultOf(error)
  return `${what} is not JSON${at === null ? '' : `: the fault is at character ${at}`}`
}
