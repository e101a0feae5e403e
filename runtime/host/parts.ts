/** Parts of a host that can be omitted or replaced. */
import type { Pace } from '../core/kernel/context/pace.ts'
import type { Keeper } from '../database/keeper.ts'
import type { ResolveName } from '../egress/dial/lookups.ts'
import type { Launcher } from '../lanes/launch.ts'
import type { WorkerBundle } from '../lanes/worker-bundle.ts'
import type { Siblings } from '../processes/siblings.ts'
import type { Recorder } from '../testing/record/recorder.ts'

/** Deviations from a complete host. */
export type HostParts = {
  /** The only plugin directory that is served. There are no built-in connectors then. */
  only?: string | null
  /**
   * `none`: connectors only; the core interface answers 503. `new`: an empty database may replace a missing
   * one. `beside`: another process keeps the embedded database and the lock of the data directory.
   */
  database?: 'none' | 'new' | 'beside'
  /** Keeper of the embedded server, if it was started before the host was loaded. */
  keeper?: Keeper | null
  /** Other processes that serve the same port. */
  siblings?: Siblings
  /** Name resolver for connectors, instead of the system's. */
  resolve?: ResolveName
  /** Prebuilt code of worker processes. By default it is built from the sources into the data directory. */
  worker?: WorkerBundle
  /** Deviations from the pace of background work in a deployment. */
  pace?: Partial<Pace>
  /** Certificates of a mail server that are trusted in addition. */
  mailTrust?: { ca?: string }
  /** Changes how worker processes are started. */
  launch?(launcher: Launcher): Launcher
  /** Observes every call, to record test cases. */
  recorder?: Pick<Recorder, 'run' | 'onHop'>
}
