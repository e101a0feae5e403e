/** The connectors that come with Keyway: the folders of plugins/, in order of their names. */
import { readdirSync } from 'node:fs'
import { BUILT_IN_DIR } from '../../runtime/config/config.ts'

export const BUILT_IN: readonly string[] = readdirSync(BUILT_IN_DIR, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)
  .sort()
