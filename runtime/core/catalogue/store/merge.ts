/** Changing a document by another, and telling what changed. Knows nothing of what is in them. */
import { isObject, membersOf } from '../../../contract/schema/record.ts'
import type { StoredDocument } from '../../../database/schema/app_store.ts'

/**
 * A document changed by a patch, as RFC 7396 says: absent members stay, objects are merged, `null` takes a
 * member out, everything else (lists too) is replaced.
 */
export function mergePatch(document: StoredDocument, patch: StoredDocument): StoredDocument {
  const merged: StoredDocument = { ...document }
  for (const [name, value] of Object.entries(patch)) {
    if (value === undefined) continue
    if (value === null) delete merged[name]
    else if (isObject(value)) {
      const before = merged[name]
      merged[name] = mergePatch(isObject(before) ? before : {}, value)
    } else merged[name] = value
  }
  return merged
}

/** A document with the defaults of what is absent in it. The cast: a document is judged before it is kept. */
export const withDefaults = <T extends object>(defaults: T, document: StoredDocument): T =>
  mergePatch(membersOf(defaults), document) as T

/** The members that differ, as paths such as `request_flow.approvers.users`. */
export function changedMembers(before: unknown, after: unknown, path: string[] = []): string[] {
  if (isObject(before) && isObject(after)) {
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort()
    return names.flatMap((name) => changedMembers(before[name], after[name], [...path, name]))
  }
  return isSame(before, after) ? [] : [path.join('.')]
}

/** The database keeps no order of members, so it must not count. */
function isSame(one: unknown, other: unknown): boolean {
  if (Array.isArray(one) && Array.isArray(other))
    return one.length === other.length && one.every((value, index) => isSame(value, other[index]))
  if (isObject(one) && isObject(other)) return changedMembers(one, other).length === 0
  return one === other
}

/** The document that is a member of another; null and undefined as they are. */
export function documentIn(
  document: StoredDocument,
  name: string,
): StoredDocument | null | undefined {
  const value = document[name]
  return value === undefined || value === null ? value : membersOf(value)
}
