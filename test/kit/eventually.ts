/** Waits for an expectation, with patience for a loaded machine: vitest's own limit is a second. */
import { vi } from 'vitest'
import { PATIENCE_MS } from './patience.ts'

/** Waits until an expectation holds. Throws its last failure if it never does. */
export const eventually = <T>(expectation: () => T | Promise<T>): Promise<T> =>
  vi.waitFor(expectation, { timeout: PATIENCE_MS, interval: 20 })
