/** How types are used: few casts, each with its reason, and no two types of one name. */

import type { Node, SourceFile } from 'typescript/unstable/ast'
import {
  isAsExpression,
  isClassDeclaration,
  isInterfaceDeclaration,
  isStatement,
  isTypeAliasDeclaration,
} from 'typescript/unstable/ast/is'
import { describe, expect, it } from 'vitest'
import { isExported, lineAt, readSource, walk } from './source-tree.ts'

const source = [...readSource('runtime/', 'plugins/')]

/** Most casts in `runtime/` and `plugins/`. Rather lower it than raise it. */
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

/** Whether a comment beside a cast, or directly above its line or its statement, says why it stands. */
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

/** Names that two types have on purpose. */
const SHARED_NAMES: Readonly<Record<string, string>> = {
  ConnectorError:
    'what authors throw: the class of the SDK outside the sandbox, and that of the guest in it',
}

const isTypeDeclaration = (node: Node) =>
  isTypeAliasDeclaration(node) || isInterfaceDeclaration(node) || isClassDeclaration(node)

describe('exported types', () => {
  it('have names of their own', () => {
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
