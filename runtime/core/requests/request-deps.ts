/** Services that the transitions of a request need in addition to the database. */
import type { CoreContext } from '../kernel/context/context.ts'

export type RequestDeps = Pick<CoreContext, 'send' | 'now' | 'listeners'>
