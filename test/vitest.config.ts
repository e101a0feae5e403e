import path from 'node:path'
import { defineConfig } from 'vitest/config'

const ROOT = path.join(import.meta.dirname, '..')

export default defineConfig({
  root: ROOT,
  // As in tsconfig.json: in the checkout nothing is built.
  resolve: {
    alias: {
      'keyway/sdk': path.join(ROOT, 'runtime/sdk/sdk.ts'),
      'keyway/testing': path.join(ROOT, 'runtime/testing/testing.ts'),
    },
  },
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/first-start.ts'],
    // Real servers and processes: patience, not speed, is what these need.
    testTimeout: 30_000,
    hookTimeout: 120_000,
    // Most of a test is waiting for processes, servers and clocks: on two cores a third file fills the gaps.
    maxWorkers: 3,
  },
})
