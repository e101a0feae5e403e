import path from 'node:path'
import { configDefaults, defineConfig } from 'vitest/config'
import { APART, SlowestFirst } from './kit/order.ts'

const ROOT = path.join(import.meta.dirname, '..')

/** Settings of all test files. Projects inherit them; lists would be doubled if a project repeated them. */
const each = {
  // Tests use real servers and processes, which need long timeouts.
  testTimeout: 120_000,
  hookTimeout: 120_000,
  // Tests mostly wait for processes, servers and clocks. On two cores, three parallel files leave a fifth of
  // the processor idle, and five a fortieth; but with five, some tests exceed their time limits.
  maxWorkers: 4,
  setupFiles: [path.join(ROOT, 'test/kit/each-file.ts')],
}

// As in tsconfig.json: a checkout has no built files.
const alias = {
  'keyway/sdk': path.join(ROOT, 'runtime/sdk/sdk.ts'),
  'keyway/testing': path.join(ROOT, 'runtime/testing/testing.ts'),
}

// Built before the first test (kit/first-start.ts).
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
