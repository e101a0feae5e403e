/** The version of the package. */
import { createRequire } from 'node:module'

// Not an import: package.json is no part of what is built of this folder.
export const VERSION: string = createRequire(import.meta.url)('../package.json').version
