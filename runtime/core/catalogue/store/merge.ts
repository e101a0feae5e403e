/** Patches of documents, and lists of changed members, independent of the documents' content. */
import { isObject, membersOf } from '../../../contract/schema/record.ts'
import type { StoredDocument } from '../../../database/schema/app_store.ts'

/**
 * Applies a patch to a document (RFC 7396): absent members stay, objects are merged, `null` removes a member,
 * and all other values, also lists, are replaced.
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

/**
 * Fills the absent members of a document with defaults. The cast is safe: a document is validated before it
 * is stored.
 */
export const withDefaults = <T extends object>(defaults: T, document: StoredDocument): T =>
  mergePatch(membersOf(defaults), document) as T

/** Returns the members that differ, as paths such as `request_flow.approvers.users`. */
export function changedMembers(before: unknown, after: unknown, path: string[] = []): string[] {
  if (isObject(before) && isObject(after)) {
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort()
    return names.flatMap((name) => changedMembers(before[name], after[name], [...path, name]))
  }
  return isSame(before, after) ? [] : [path.join('.')]
}

/** Compares without the order of members, which the database does not preserve. */
function isSame(one: unknown, other: unknown): boolean {
  if (Array.isArray(one) && Array.isArray(other))
    return one.length === other.length && one.every((value, index) => isSame(value, other[index]))
  if (isObject(one) && isObject(other)) return changedMembers(one, other).length === 0
  return one === other
}

/** Returns a member of a document as a document, or unchanged if null or undefined. */
export function documentIn(
  document: StoredDocument,
  name: string,
): StoredDocument | null | undefined {
  const value = document[name]
  return value === undefined || value === null ? value : membersOf(value)
}
