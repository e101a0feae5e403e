/** Deepest nesting of JSON that comes in or goes out. */
export const MAX_DEPTH = 64

/** Whether objects and lists are nested deeper than so many levels; never looks further than that. */
export function deeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (levels === 0) return true
  return Object.values(value).some((one) => deeperThan(one, levels - 1))
}
