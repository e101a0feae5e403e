import { build } from 'esbuild'
import { expect, test } from 'vitest'

const root = `${import.meta.dirname}/../..`

/** Bundles as the registry does: one module, nothing from outside. */
async function bundle(entry: string) {
  const { metafile, outputFiles } = await build({
    entryPoints: [`${root}/${entry}`],
    absWorkingDir: root,
    bundle: true,
    write: false,
    metafile: true,
    format: 'esm',
    platform: 'neutral',
    // As in runtime/connectors/registry/compiler.ts: the SDK of this checkout, regardless of a connector's
    // tsconfig.
    alias: { 'keyway/sdk': `${root}/runtime/sdk/sdk.ts` },
    tsconfigRaw: {},
  })
  return { inputs: Object.keys(metafile.inputs), text: outputFiles[0]?.text ?? '' }
}

test('the SDK adds only its own files, the table of statuses and the DN parser to a bundle', async () => {
  const { inputs } = await bundle('runtime/sdk/sdk.ts')
  const foreign = inputs.filter((input) => !/^runtime\/sdk\/[a-z-]+\.ts$/.test(input))
  expect(foreign.sort()).toEqual([
    'runtime/contract/connector/dn.ts',
    'runtime/contract/connector/upstream-status.ts',
  ])
})

test('a bundle that uses little of the SDK is small', async () => {
  const { text } = await bundle('plugin-template/connector.ts')
  expect(text.length).toBeLessThan(20_000)
  expect(text).not.toMatch(/\bimport\b.*from/)
})
