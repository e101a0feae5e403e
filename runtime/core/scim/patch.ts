/** Parses the PatchOp message (RFC 7644 section 3.5.2), in the variants that Entra ID and Okta send. Pure. */
import { SCIM_LIMITS } from '../../contract/models/scim.ts'
import { isObject } from '../../contract/schema/record.ts'
import { schemaOf } from './paths.ts'
import { ScimError } from './problem.ts'

export type PatchOperation = {
  op: 'add' | 'replace' | 'remove'
  /** Null if the value is an object of attributes. */
  path: string | null
  value: unknown
}

const OPS = ['add', 'replace', 'remove'] as const
/**
 * Read-only attributes. They are ignored in a value without a path: Okta sends the id next to the name of a
 * group.
 */
const READ_ONLY = /^(id|meta|groups)(?=$|[.[])/i
const syntax = (detail: string) => new ScimError('bad_request', 'invalidSyntax', detail)

/**
 * Returns the operations of a message, with `op` in lower case.
 *
 * @throws ScimError `invalidSyntax`, `noTarget`, `tooMany`, `mutability`
 */
export function patchOperations(body: Record<string, unknown>): PatchOperation[] {
  const list = member(body, 'operations')
  if (!Array.isArray(list) || list.length === 0)
    throw syntax('A PATCH needs a list Operations with at least one operation')
  if (list.length > SCIM_LIMITS.patchOperations)
    throw new ScimError(
      'bad_request',
      'tooMany',
      `A PATCH takes at most ${SCIM_LIMITS.patchOperations} operations: send several requests`,
    )
  return list.map(operationOf)
}

function operationOf(one: unknown, index: number): PatchOperation {
  const where = `Operations[${index}]`
  if (!isObject(one)) throw syntax(`${where} must be an object`)
  const word = String(member(one, 'op')).toLowerCase()
  const op = OPS.find((name) => name === word)
  if (!op) throw syntax(`${where}.op must be add, replace or remove`)
  const path = member(one, 'path') ?? null
  if (path !== null && typeof path !== 'string') throw syntax(`${where}.path must be text`)
  const value = member(one, 'value')
  const named = path === '' ? null : path
  if (named === null && op === 'remove')
    throw new ScimError('bad_request', 'noTarget', `${where} removes without a path`)
  if (named === null && !isObject(value))
    throw syntax(`${where} has no path, so its value must be an object of attributes`)
  if (op !== 'remove' && value === undefined) throw syntax(`${where}.value is missing`)
  const [fixed] = READ_ONLY.exec(schemaOf(named ?? '').rest) ?? []
  if (fixed !== undefined)
    throw new ScimError(
      'bad_request',
      'mutability',
      `${where}: ${fixed} is read-only${fixed.toLowerCase() === 'groups' ? '; change the members of the group' : ''}`,
    )
  return { op, path: named, value }
}

/** Returns a member by its name, which is compared without case. */
export function member(body: Record<string, unknown>, name: string): unknown {
  const key = Object.keys(body).find((one) => one.toLowerCase() === name)
  return key === undefined ? undefined : body[key]
}
