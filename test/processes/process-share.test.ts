/** Limits of each of several processes: together they stay within the limits of a single one. */
import { describe, expect, test } from 'vitest'
import { readConfig } from '../../runtime/config/config.ts'
import { DEFAULT_LIMITS } from '../../runtime/egress/limits/limits.ts'
import { LANES_LIMITS } from '../../runtime/lanes/lanes.ts'
import { configOf, egressLimitsOf, lanesLimitsOf } from '../../runtime/processes/process-share.ts'

const config = readConfig({})
const GIBIBYTE = 1024 ** 3

test('a single process has the whole limits', () => {
  expect(configOf(config, 1)).toEqual(config)
  expect(lanesLimitsOf(config, 1)).toEqual(LANES_LIMITS)
  expect({ ...DEFAULT_LIMITS, ...egressLimitsOf(1) }).toEqual(DEFAULT_LIMITS)
})

describe.each([2, 3, 4])('%i processes', (processes) => {
  test('share the limits of callers and upstreams', () => {
    const { ceilings, requestsPerMinute } = configOf(config, processes)
    expect(processes * requestsPerMinute).toBeLessThan(config.requestsPerMinute + processes)
    expect(processes * ceilings.maxConcurrency).toBeLessThan(64 + processes)
    expect(processes * ceilings.maxRequestsPerSecond).toBeLessThan(100 + processes)
    const { maxProcessOpenBytes = 0, connectorReadBytesPerSecond = 0 } = egressLimitsOf(processes)
    expect(processes * maxProcessOpenBytes).toBeLessThan(GIBIBYTE / 2 + processes)
    expect(processes * connectorReadBytesPerSecond).toBeLessThan(32 * 1024 ** 2 + processes)
  })

  test('leave enough memory in a worker for an isolate at its limit', () => {
    const { maxWorkerBytes, maxIsolates } = lanesLimitsOf(config, processes)
    expect(maxWorkerBytes).toBe(GIBIBYTE / 2)
    expect(processes * maxIsolates).toBeLessThan(64 + processes)
  })
})
