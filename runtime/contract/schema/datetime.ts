/**
 * Parses a point in time in any format that clients send. Values without a zone are in UTC. Returns null if
 * the text is not a date.
 */
export function parseDatetime(value: string): Date | null {
  if (/^-?[0-9]{1,12}(\.[0-9]+)?$/.test(value)) return valid(new Date(Number(value) * 1000))
  const form =
    /^([0-9]{4}-[0-9]{2}-[0-9]{2})(?:[T ]([0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?))?\s*(Z|[+-][0-9]{2}:?[0-9]{2})?$/i.exec(
      value,
    )
  if (!form) return null
  const [, date = '', time = '00:00:00', zone = 'Z'] = form
  // Date would turn 31 February into a day of March.
  if (
    !valid(new Date(`${date}T00:00:00Z`))
      ?.toISOString()
      .startsWith(date)
  )
    return null
  return valid(new Date(`${date}T${time}${zone}`))
}

/**
 * Parses a point in time that another system wrote, in milliseconds since the epoch: one of the formats above, or
 * an HTTP date (RFC 9110 section 5.6.7). Returns null if the text is neither.
 */
export function parseForeignTime(text: string): number | null {
  const ms = parseDatetime(text)?.getTime() ?? Date.parse(text)
  return Number.isNaN(ms) ? null : ms
}

/** Years outside 1 to 9999 are written with a sign or not at all, and PostgreSQL does not read that form. */
const valid = (date: Date): Date | null => {
  const year = date.getUTCFullYear()
  return year >= 1 && year <= 9999 ? date : null
}
