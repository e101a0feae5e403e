import type { Attack } from './attack.ts'

const refused = ['ghost'] as const
const MEBIBYTE = 1024 * 1024

/** Returns modules that import each other in a ring, and ten others each. */
function ringOf(count: number): Record<string, string> {
  const names = Array.from({ length: count }, (_, index) => index)
  return Object.fromEntries(
    names.map((index) => {
      const others = Array.from({ length: 10 }, (_, step) => (index + step * 7 + 1) % count)
      const imports = others.map((other, at) => `import * as m${at} from './module-${other}.ts'`)
      return [`module-${index}.ts`, `${imports.join('\n')}\nexport const value = [m0, m9]\n`]
    }),
  )
}

/** Returns conditionals whose middle may be the parameters of an arrow function. */
const ambiguous = (levels: number): string =>
  `export default (0 as any) ${'? (a = (0 as any) '.repeat(levels)}? 1 : 2${') : 3'.repeat(levels)}\n`

const jsonText = (bytes: number): string => `"${'x'.repeat(bytes)}"`

export const COMPILER: readonly Attack[] = [
  { name: 'import-parent', promise: 2, ends: refused },
  { name: 'import-absolute', promise: 2, ends: refused },
  {
    name: 'import-by-link',
    promise: 2,
    ends: refused,
    links: { 'secret.json': '{secrets}/secret' },
    quick: true,
  },
  { name: 'import-by-folder-link', promise: 2, ends: refused, links: { root: '/' } },
  {
    name: 'tsconfig-paths',
    promise: 2,
    ends: refused,
    files: () => ({
      'tsconfig.json': JSON.stringify({
        extends: '../../../../etc/tsconfig.json',
        compilerOptions: { baseUrl: '..', paths: { 'secrets/*': ['../data/*', '/etc/*'] } },
      }),
    }),
  },
  {
    name: 'package-json',
    promise: 2,
    ends: refused,
    files: () => ({
      'package.json': JSON.stringify({
        imports: { '#secret': '../../data/secret.json' },
        main: '/etc/passwd',
      }),
      'node_modules/inner/package.json': JSON.stringify({
        name: 'inner',
        main: '../../../healthy_neighbour/connector.ts',
      }),
    }),
  },
  { name: 'import-pattern', promise: 2, ends: ['ghost', 'answer'] },
  { name: 'import-node', promise: 2, ends: refused },
  { name: 'import-runtime', promise: 2, ends: refused },
  { name: 'import-attributes', promise: 2, ends: refused },
  { name: 'source-map-comment', promise: 2, ends: ['unexpected_error'] },
  {
    name: 'huge-source',
    promise: 1,
    ends: refused,
    files: () => ({ 'large.json': jsonText(40 * MEBIBYTE) }),
  },
  {
    name: 'large-bundle',
    promise: 1,
    ends: refused,
    files: () => ({ 'large.json': jsonText(12 * MEBIBYTE) }),
  },
  {
    name: 'many-files',
    promise: 1,
    ends: refused,
    files: () =>
      Object.fromEntries(Array.from({ length: 6000 }, (_, index) => [`lib/${index}.ts`, ''])),
  },
  {
    name: 'many-modules',
    promise: 1,
    ends: ['ghost', 'answer'],
    files: () => ringOf(2000),
    deadlineMs: 2000,
  },
  {
    name: 'deep-source',
    promise: 1,
    ends: refused,
    files: () => ({ 'deep.ts': `export default ${'['.repeat(500_000)}${']'.repeat(500_000)}` }),
    quick: true,
  },
  {
    name: 'ambiguous-source',
    promise: 1,
    ends: ['ghost', 'answer'],
    files: () => ({ 'ambiguous.ts': ambiguous(28) }),
  },
  { name: 'endless-file', promise: 1, ends: refused, links: { 'endless.ts': '/dev/zero' } },
]
