import path from 'node:path'
import { configDefaults, defineConfig } from 'vitest/config'
import { APART, SlowestFirst } from './kit/order.ts'

const ROOT = path.join(import.meta.dirname, '..')

/** What holds for all files of tests: each project takes it over, and lists would be doubled if it had them, too. */
const each = {
  // Real servers and processes: patience, not speed, is what these need.
  testTimeout: 120_000,
  hookTimeout: 120_000,
  // Much of a test is waiting for processes, servers and clocks. On two cores, three files at once leave a fifth of the
  // processor idle, and five a fortieth; but with five some wait longer than their limits allow.
  maxWorkers: 4,
  setupFiles: [path.join(ROOT, 'test/kit/each-file.ts')],
}

// As in tsconfig.json: in the checkout nothing is built.
const alias = {
  'keyway/sdk': path.join(ROOT, 'runtime/sdk/sdk.ts'),
  'keyway/testing': path.join(ROOT, 'runtime/testing/testing.ts'),
}

// Made before the first test (kit/first-start.ts).
const define = {
  BUILT_COMPILER: 'process.env.KEYWAY_TESTS_COMPILER',
  BUILT_VERIFY_HOST: 'process.env.KEYWAY_TESTS_VERIFY_HOST',
}

export default defineConfig({
  root: ROOT,
  test: {
    ...each,
    globalSetup: ['test/kit/first-start.ts'],
    sequence: { sequencer: SlowestFirst },
    projects: [
      {
        root: ROOT,
        resolve: { alias },
        define,
        test: {
          name: 'apart',
          include: [...APART],
          isolate: true,
        },
      },
      {
        root: ROOT,
        resolve: { alias },
        define,
        test: {
          name: 'together',
          include: ['test/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...APART],
          isolate: false,
        },
      },
    ],
  },
})
