/** Waiting for what an expectation says, with patience for a loaded machine: vitest's own is a second. */
import { vi } from 'vitest'

/** How long is waited for what must come, in milliseconds: a bound for what never comes, no promise of speed. */
const PATIENCE_MS = 30_000

/** Waits until an expectation holds; throws its last failure where it never does. */
export const holds = <T>(expectation: () => T | Promise<T>): Promise<T> =>
  vi.waitFor(expectation, { timeout: PATIENCE_MS, interval: 20 })
