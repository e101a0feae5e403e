/** What the checks of a manifest need of egress, as a function that main hands in. */
import type { EgressEntry } from '../../contract/connector/manifest.ts'
import type { Fields } from '../../contract/connector/settings.ts'

/** Judges the egress entries; knows the settings that they may refer to and the entries' own path. */
export type CheckEgress = (rules: readonly EgressEntry[], fields: Fields, path: string) => string[]
