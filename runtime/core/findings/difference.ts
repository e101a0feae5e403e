/** What is found now compared with what is open: pure, so that looking twice changes nothing. */
import type { FoundIssue } from './rules.ts'

type Open = { id: string; kind: string; subject: string }

const keyOf = ({ kind, subject }: { kind: string; subject: string }) => `${kind} ${subject}`

/** What is to be opened, and the ids of what is to be resolved. */
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
