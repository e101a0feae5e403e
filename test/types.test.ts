/**
 * Rules for types and exports: few casts, each with its reason; unique names of types; no export that no
 * other file imports; few names that two files export.
 */

import type { Node, SourceFile } from 'typescript/unstable/ast'
import {
  isAsExpression,
  isClassDeclaration,
  isInterfaceDeclaration,
  isStatement,
  isTypeAliasDeclaration,
} from 'typescript/unstable/ast/is'
import { describe, expect, it } from 'vitest'
import { ALL, declaredNames, isValue, takenNames } from './imported.ts'
import { isExported, lineAt, readSource, walk } from './source-tree.ts'

const all = readSource('runtime/', 'plugins/', 'plugin-template/', 'scripts/', 'test/')
const source = [...all].filter(([place]) => /^(runtime|plugins)\//.test(place))
const runtime = [...all].filter(([place]) => /^runtime\/.*\.ts$/.test(place))

/** Maximum number of casts in `runtime/` and `plugins/`. Lower it rather than raise it. */
const MAX_CASTS = 99

type Cast = { node: Node; file: SourceFile; place: string }

/** Casts other than `as const`; `as unknown as T` is one. */
const casts = source.flatMap(([place, file]) => {
  const found: Cast[] = []
  walk(file, (node) => {
    if (!isAsExpression(node) || isAsExpression(node.parent)) return
    if (node.type.getText() !== 'const') found.push({ node, file, place })
  })
  return found
})

const COMMENT = /^\s*(\/\/|\/?\*)|\s\/\/ /

/** Whether a comment next to a cast, or directly above its line or its statement, gives its reason. */
function hasReason({ node, file }: Cast): boolean {
  const lines = file.text.split('\n')
  const isComment = (line: number) => COMMENT.test(lines[line] ?? '')
  const first = lineAt(file, node.getStart())
  let around: Node = node
  while (!isStatement(around)) around = around.parent
  const beside = [first, lineAt(file, node.end)]
  const above = [first, lineAt(file, around.getStart())].flatMap((line) => {
    const block: number[] = []
    for (let at = line - 1; isComment(at); at -= 1) block.push(at)
    return block
  })
  return [...beside, ...above].some(
    (line) => isComment(line) && /\bcasts?\b/i.test(lines[line] ?? ''),
  )
}

describe('casts', () => {
  it(`are at most ${MAX_CASTS}`, () => {
    expect(casts.length).toBeLessThanOrEqual(MAX_CASTS)
  })

  it('have their reason in a comment that names the cast', () => {
    const bare = casts
      .filter((cast) => !hasReason(cast))
      .map(({ node, file, place }) => `${place}:${lineAt(file, node.getStart()) + 1}`)
    expect(bare).toEqual([])
  })
})

/** Names that two types share on purpose. */
const SHARED_NAMES: Readonly<Record<string, string>> = {
  ConnectorError:
    'what authors throw: the class of the SDK outside the sandbox, and that of the guest in it',
}

const isTypeDeclaration = (node: Node) =>
  isTypeAliasDeclaration(node) || isInterfaceDeclaration(node) || isClassDeclaration(node)

describe('exported types', () => {
  it('have unique names', () => {
    const places = new Map<string, string[]>()
    for (const [place, file] of source)
      for (const statement of file.statements) {
        if (!isExported(statement) || !isTypeDeclaration(statement) || !statement.name) continue
        const { text } = statement.name
        places.set(text, [...(places.get(text) ?? []), place])
      }
    const shared = [...places].filter(
      ([name, all]) =>
        all.filter((place) => place.startsWith('runtime/')).length > 1 && !(name in SHARED_NAMES),
    )
    expect(shared).toEqual([])
  })
})

/** Files and folders of runtime/ whose exports are used by something other than an import. */
const READ_OTHERWISE: Readonly<Record<string, string>> = {
  'runtime/database/schema/': 'drizzle-kit reads every table of every file',
  'runtime/sdk/sdk.ts': 'what authors import as keyway/sdk',
  'runtime/testing/testing.ts': 'what authors import as keyway/testing',
  'runtime/contract/endpoints/params.ts': 'declarations of endpoints name the type of a parameter',
}

/** Names of functions and constants in several files of `runtime/`. Remove one rather than add one. */
const COMMON_NAMES: ReadonlySet<string> = new Set(
  `ActivityRecord addressOf ask backup bytes bytesOf change check collect connect createApp
  endWaitingTokens failureOf fileOf indexOf install isObject jsonText list loginOf
  membersOf misfit nameOf nodes parkedIdOf partOf perform readBody readHeader
  record remove restore rollBack search sha256 shapeOf show sign signText sizeOf
  stepsOf subjectOf syncSettings systemOf describeRequest text textOf toRow trust update valuesOf verify`.split(
    /\s+/,
  ),
)

describe('exports', () => {
  it('are imported by another file', () => {
    const taken = takenNames(all)
    const own = runtime
      .filter(([place]) => !Object.keys(READ_OTHERWISE).some((one) => place.startsWith(one)))
      .flatMap(([place, file]) => {
        const names = taken.get(place) ?? new Set()
        return names.has(ALL)
          ? []
          : file.statements
              .flatMap(declaredNames)
              .filter((name) => !names.has(name))
              .map((name) => `${place}: ${name}`)
      })
    expect(own).toEqual([])
  })

  it('have unique names, with few exceptions', () => {
    const places = new Map<string, Set<string>>()
    for (const [place, file] of runtime)
      for (const name of file.statements.filter(isValue).flatMap(declaredNames))
        places.set(name, (places.get(name) ?? new Set()).add(place))
    const shared = new Map([...places].filter(([, files]) => files.size > 1))
    const more = [...shared].filter(([name]) => !COMMON_NAMES.has(name))
    expect(more, 'give one of them a name of its own').toEqual([])
    expect([...COMMON_NAMES].filter((name) => !shared.has(name))).toEqual([])
  })
})
