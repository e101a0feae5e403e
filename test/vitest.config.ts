import path from 'node:path'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  root: path.join(import.meta.dirname, '..'),
  test: {
    include: ['test/**/*.test.ts'],
    // Real servers and processes: patience, not speed, is what these need.
    testTimeout: 30_000,
    hookTimeout: 120_000,
    // Two cores: more files at once would only make each other slow.
    maxWorkers: 2,
  },
})
