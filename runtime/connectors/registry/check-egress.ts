/** Egress checks needed by the manifest checks, as a function that main passes in. */
import type { EgressEntry } from '../../contract/connector/manifest.ts'
import type { Fields } from '../../contract/connector/settings.ts'

/** Checks egress entries. Gets the settings that they may refer to, and the path of the entries. */
export type CheckEgress = (rules: readonly EgressEntry[], fields: Fields, path: string) => string[]
