/** Withdrawing and restoring published versions. Pure. */
import * as v from 'valibot'
import { normalizeId } from '../../contract/connector/manifest.ts'
import { PackageError } from '../packages/format.ts'
import type { PublishedIndex, PublishedVersion } from './form.ts'
import { connectorIn, parseName } from './rules.ts'
import { WithdrawalReason } from './withdrawn.ts'

/** Versions are written as `acme@1.2.0`. */
export type Withdrawal = {
  withdraw: readonly string[]
  /** Why; empty if nothing is withdrawn. */
  reason: string
  restore: readonly string[]
}

/** @throws PackageError if versions are withdrawn without a reason, or a reason is given without versions */
export function requireReason({ withdraw, reason }: Withdrawal): void {
  if (withdraw.length === 0 && reason !== '')
    throw new PackageError('--reason says why a version is withdrawn: name one by --withdraw')
  const checked = v.safeParse(WithdrawalReason, reason)
  if (withdraw.length > 0 && !checked.success)
    throw new PackageError(
      `the reason of a withdrawal is missing or wrong: ${checked.issues[0].message}. Write --reason 'what is wrong with it'`,
    )
}

/**
 * The index with these versions withdrawn or restored. A version that is already withdrawn keeps its date and gets the new
 * reason.
 *
 * @throws PackageError for an unknown version, and for restoring one that is not withdrawn
 */
export function withdrawn(index: PublishedIndex, asked: Withdrawal, now: Date): PublishedIndex {
  const reason = asked.reason.trim()
  const both = new Set(asked.restore)
  for (const name of asked.withdraw)
    if (both.has(name))
      throw new PackageError(`${name} is to be withdrawn and restored: choose one`)
  const withdrawing = asked.withdraw.reduce(
    (before, name) =>
      changed(before, name, (one) => ({
        ...one,
        withdrawn: { at: one.withdrawn?.at ?? now.toISOString(), reason },
      })),
    index,
  )
  return asked.restore.reduce(
    (before, name) =>
      changed(before, name, ({ withdrawn: was, ...one }) => {
        if (was === undefined) throw new PackageError(`${name} is not withdrawn`)
        return one
      }),
    withdrawing,
  )
}

/** @throws PackageError for an unknown version */
function changed(
  index: PublishedIndex,
  name: string,
  change: (version: PublishedVersion) => PublishedVersion,
): PublishedIndex {
  const { id, range } = parseName(name) ?? { id: '', range: '*' }
  if (id === '' || range === '*')
    throw new PackageError(
      `${JSON.stringify(name)} names no published version: write its id and version, such as acme@1.2.0`,
    )
  const connector = connectorIn(index, id)
  if (!connector) throw new PackageError(`there is no connector ${id} in this registry`)
  if (!connector.versions.some(({ version }) => version === range)) {
    const there = connector.versions.slice(0, 10).map(({ version }) => version)
    throw new PackageError(
      `there is no ${id} ${range} in this registry; there are ${there.join(', ')}`,
    )
  }
  const connectors = index.connectors.map((one) =>
    normalizeId(one.id) === normalizeId(id)
      ? {
          ...one,
          versions: one.versions.map((version) =>
            version.version === range ? change(version) : version,
          ),
        }
      : one,
  )
  return { ...index, connectors }
}
