/** JSON for people: a value that fits on one line is written on one line. */

const WIDTH = 100

/**
 * Returns the text of a value.
 *
 * @param pad Indentation of its line.
 */
export function jsonText(value: unknown, pad: string, used = pad.length): string {
  const flat = inLine(value)
  if (typeof value !== 'object' || value === null || used + flat.length < WIDTH) return flat
  const inner = `${pad}  `
  const isList = Array.isArray(value)
  const lines = isList
    ? value.map((one) => inner + jsonText(one, inner))
    : Object.entries(value).map(([name, one]) => {
        const lead = `${inner}${JSON.stringify(name)}: `
        return lead + jsonText(one, inner, lead.length)
      })
  return `${isList ? '[' : '{'}\n${lines.join(',\n')}\n${pad}${isList ? ']' : '}'}`
}

function inLine(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  if (Array.isArray(value)) return `[${value.map(inLine).join(', ')}]`
  const members = Object.entries(value).map(
    ([name, one]) => `${JSON.stringify(name)}: ${inLine(one)}`,
  )
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`
}
