/**
 * Identifies the tenant whose request rate towards an upstream system is limited: by its settings, and by the
 * parts of its credentials that rotation does not change. A kind without such parts (a bare token) is
 * identified by its secret, since otherwise all tenants without settings would wait for each other.
 *
 * Source: architecture.md section 2, "Three identities".
 */

import { hash } from 'node:crypto'
import {
  AUTHENTICATION,
  type AuthCredential,
  CREDENTIAL_KINDS,
} from '../contract/connector/authentication.ts'
import type { Call } from '../contract/envelope/envelope.ts'
import { canonicalJson } from '../contract/schema/canonical-json.ts'
import { membersOf } from '../contract/schema/record.ts'
import { type AnySchema, metadataOf, wrappedIn } from '../contract/schema/shape.ts'

/** Fields that rotation does not change, by kind. */
const IDENTITY = new Map(
  CREDENTIAL_KINDS.map((kind) => [
    kind,
    Object.entries(AUTHENTICATION[kind].entries)
      .filter(([, field]) => natureOf(field) === 'identity')
      .map(([name]) => name),
  ]),
)

function natureOf(field: AnySchema): unknown {
  const { nature } = metadataOf(field)
  const wrapped = wrappedIn(field)
  return nature ?? (wrapped ? natureOf(wrapped) : undefined)
}

/** Returns a digest from which no credential can be recovered. */
export function governorKeyOf({
  settings,
  auth,
  credentials,
}: Pick<Call, 'settings' | 'auth' | 'credentials'>): string {
  const held = Object.entries(credentials ?? { auth }).map(([id, one]) => [id, one && staying(one)])
  return hash('sha256', canonicalJson([settings, held]), 'base64url')
}

function staying(credential: AuthCredential): unknown {
  return CREDENTIAL_KINDS.flatMap((kind) => {
    if (credential[kind] === undefined) return []
    const value = membersOf(credential[kind])
    const names = IDENTITY.get(kind) ?? []
    return names.length === 0 ? [value] : [names.map((name) => value[name] ?? null)]
  })
}
