/** Version of the package. */
import { createRequire } from 'node:module'

// Not an import: package.json is not part of the files built from this folder.
export const VERSION: string = createRequire(import.meta.url)('../package.json').version
