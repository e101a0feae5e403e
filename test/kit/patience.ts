/**
 * How long tests wait for an expected event, in milliseconds. It bounds the wait for an event that never
 * comes, and is no promise of speed. It is shorter than the time limit of a test (vitest.config.ts), so that
 * the failure names the event.
 */
export const PATIENCE_MS = 100_000
