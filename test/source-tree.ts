/** The source files as TypeScript parses them, for tests of the code itself. */
import path from 'node:path'
import { type Node, type SourceFile, type Statement, SyntaxKind } from 'typescript/unstable/ast'
import { API } from 'typescript/unstable/sync'

const ROOT = path.join(import.meta.dirname, '..')

/** Files of the project, by their paths in the repository, which begin with one of these folders. */
export function readSource(...folders: readonly string[]): Map<string, SourceFile> {
  const api = new API({ cwd: ROOT })
  try {
    const [project] = api
      .updateSnapshot({ openProjects: [path.join(ROOT, 'tsconfig.json')] })
      .getProjects()
    if (project === undefined) throw new Error('tsconfig.json names no project')
    const { program } = project
    const found = new Map<string, SourceFile>()
    for (const file of program.getSourceFileNames()) {
      const place = path.relative(ROOT, file)
      if (!folders.some((folder) => place.startsWith(folder)) || place.endsWith('.d.ts')) continue
      const source = program.getSourceFile(file)
      if (source) found.set(place, source)
    }
    return found
  } finally {
    api.close()
  }
}

/** Calls `visit` for a node and all of its descendants. */
export function walk(node: Node, visit: (node: Node) => void): void {
  visit(node)
  node.forEachChild((child) => {
    walk(child, visit)
    return undefined
  })
}

/** The number of the line at a position, from 0. */
export const lineAt = (source: SourceFile, position: number): number =>
  source.text.slice(0, position).split('\n').length - 1

export const isExported = (statement: Statement): boolean =>
  'modifiers' in statement &&
  Array.isArray(statement.modifiers) &&
  statement.modifiers.some(({ kind }) => kind === SyntaxKind.ExportKeyword)
