/** What a host may be made without, or with something else in its place. */
import type { Pace } from '../core/kernel/context/pace.ts'
import type { Keeper } from '../database/keeper.ts'
import type { ResolveName } from '../egress/dial/lookups.ts'
import type { Launcher } from '../lanes/launch.ts'
import type { WorkerBundle } from '../lanes/worker-bundle.ts'
import type { Siblings } from '../processes/siblings.ts'
import type { Recorder } from '../testing/record/recorder.ts'

/** A host that is not whole. */
export type HostParts = {
  /** The one plugin directory that is served; no built-in connectors then. */
  only?: string | null
  /**
   * `none`: connectors alone; the core interface answers 503. `new`: an empty database may take the place of one
   * that is missing. `beside`: another process keeps the embedded one, and the lock of the data directory.
   */
  database?: 'none' | 'new' | 'beside'
  /** What keeps the embedded server, where it was begun before the host was loaded. */
  keeper?: Keeper | null
  /** The other processes that serve the same port. */
  siblings?: Siblings
  /** What looks names up for connectors, in place of the system. */
  resolve?: ResolveName
  /** The code of worker processes, built before; default: built of the sources into the data directory. */
  worker?: WorkerBundle
  /** What of the background's pace is another than that of a deployment. */
  pace?: Partial<Pace>
  /** What of the certificate of a mail server is trusted in addition. */
  mailTrust?: { ca?: string }
  /** Changes how worker processes are started. */
  launch?(launcher: Launcher): Launcher
  /** Looks on at every call, to make cases of them. */
  recorder?: Pick<Recorder, 'run' | 'onHop'>
}
