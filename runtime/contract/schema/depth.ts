import { membersOf } from './record.ts'

/** Maximum nesting depth of JSON that is received or sent. Code that walks it recurses once per level. */
export const MAX_DEPTH = 64

/** Reports whether objects and lists are nested deeper than `levels`. Does not descend further than that. */
export function deeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (levels === 0) return true
  if (Array.isArray(value)) return value.some((one) => deeperThan(one, levels - 1))
  const members = membersOf(value)
  return Object.keys(members).some((name) => deeperThan(members[name], levels - 1))
}
