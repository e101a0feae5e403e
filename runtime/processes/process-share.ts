/**
 * Share of one process in the limits of a host. All processes together stay within the limits of a single
 * process. Callers are distributed by connection, so a caller with one connection has one share.
 */
import type { Config } from '../config/config.ts'
import { CEILINGS } from '../contract/limits/ceilings.ts'
import { mapValues } from '../contract/schema/keys.ts'
import { DEFAULT_LIMITS, type EgressLimits } from '../egress/limits/limits.ts'
import { LANES_LIMITS, type LanesLimits } from '../lanes/lanes.ts'

const MEBIBYTE = 1024 * 1024
/** Memory of a worker in addition to one isolate at its limit, in bytes. */
const WORKER_BYTES = 256 * MEBIBYTE

const shareOf = (whole: number, processes: number): number => Math.ceil(whole / processes)

/** Returns the settings of one of this number of processes. */
export function configOf(config: Config, processes: number): Config {
  const { ceilings } = config
  return {
    ...config,
    requestsPerMinute: shareOf(config.requestsPerMinute, processes),
    ceilings: mapValues(CEILINGS, ({ isShared }, name) =>
      isShared ? shareOf(ceilings[name], processes) : ceilings[name],
    ),
  }
}

/**
 * Returns the limits of a process's own workers. Memory is a share, but has room for one isolate at its
 * limit.
 */
export function lanesLimitsOf({ ceilings }: Config, processes: number): LanesLimits {
  const least = ceilings.maxMemoryMb * MEBIBYTE + WORKER_BYTES
  const share = shareOf(LANES_LIMITS.maxWorkerBytes, processes)
  return {
    ...LANES_LIMITS,
    maxIsolates: shareOf(LANES_LIMITS.maxIsolates, processes),
    maxWaiting: shareOf(LANES_LIMITS.maxWaiting, processes),
    maxWorkerBytes: processes === 1 ? LANES_LIMITS.maxWorkerBytes : Math.max(least, share),
  }
}

/**
 * Returns the limits on what all calls of a connector, and of the process, may have open. The limits of one
 * call are not divided.
 */
export function egressLimitsOf(processes: number): Partial<EgressLimits> {
  const of = (name: keyof EgressLimits) => shareOf(DEFAULT_LIMITS[name], processes)
  return {
    maxConnectorOpenFetches: of('maxConnectorOpenFetches'),
    maxConnectorOpenBytes: of('maxConnectorOpenBytes'),
    maxProcessOpenBytes: of('maxProcessOpenBytes'),
    readBytesPerSecond: of('readBytesPerSecond'),
    connectorReadBytesPerSecond: of('connectorReadBytesPerSecond'),
  }
}
