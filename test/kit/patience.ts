/**
 * How long tests wait for what must come, in milliseconds: a bound for what never comes, no promise of speed. It is less
 * than a test may take (vitest.config.ts), so the failure says what was waited for.
 */
export const PATIENCE_MS = 100_000
