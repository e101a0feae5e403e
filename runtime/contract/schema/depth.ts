import { membersOf } from './record.ts'

/** Deepest nesting of JSON that comes in or goes out. */
export const MAX_DEPTH = 64

/** Whether objects and lists are nested deeper than so many levels; never looks further than that. */
export function deeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (levels === 0) return true
  if (Array.isArray(value)) return value.some((one) => deeperThan(one, levels - 1))
  const members = membersOf(value)
  return Object.keys(members).some((name) => deeperThan(members[name], levels - 1))
}
