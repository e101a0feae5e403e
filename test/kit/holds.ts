/** Waiting for what an expectation says, with patience for a loaded machine: vitest's own is a second. */
import { vi } from 'vitest'
import { PATIENCE_MS } from './patience.ts'

/** Waits until an expectation holds; throws its last failure where it never does. */
export const holds = <T>(expectation: () => T | Promise<T>): Promise<T> =>
  vi.waitFor(expectation, { timeout: PATIENCE_MS, interval: 20 })
