/** Comparison of the findings of a look with the open ones. Pure: looking twice changes nothing. */
import type { FoundIssue } from './rules.ts'

type Open = { id: string; kind: string; subject: string }

const keyOf = ({ kind, subject }: { kind: string; subject: string }) => `${kind} ${subject}`

/** Returns the findings to open and the ids of the findings to resolve. */
export function findingChanges(
  found: readonly FoundIssue[],
  open: readonly Open[],
): { open: FoundIssue[]; resolve: string[] } {
  const now = new Map(found.map((one) => [keyOf(one), one]))
  const known = new Set(open.map(keyOf))
  return {
    open: [...now].filter(([key]) => !known.has(key)).map(([, one]) => one),
    resolve: open.filter((one) => !now.has(keyOf(one))).map(({ id }) => id),
  }
}
