/** Carries out `work` as on a machine in a time zone, such as `America/New_York`. */
export function inTimeZone<T>(zone: string, work: () => T): T {
  const before = process.env['TZ']
  process.env['TZ'] = zone
  try {
    return work()
  } finally {
    if (before === undefined) delete process.env['TZ']
    else process.env['TZ'] = before
  }
}
