/**
 * Maps error positions in a bundle to the author's own files, by source map. Maps are read when an error is
 * thrown, and the latest are cached.
 */
import { SourceMap } from 'node:module'
import { createCache } from '../../bounded/cache.ts'
import type { Position } from '../../contract/errors/position.ts'
import { INPUTS } from '../../contract/limits/inputs.ts'

/**
 * Returns the first position in the connector's folder, such as `connector.ts:31:12`; null if there is none.
 */
type Locate = (digest: string, at: readonly Position[]) => Promise<string | null>

type Kept = { map: SourceMap | null; length: number }

/** Creates the function. `readMap` returns the text of a bundle's source map. */
export function createLocate(readMap: (digest: string) => Promise<string | null>): Locate {
  // By the length of the text. The parsed map is many times as large.
  const kept = createCache<Kept>('source_maps', { bytesOf: ({ length }) => length })

  async function mapOf(digest: string): Promise<SourceMap | null> {
    const known = kept.get(digest)
    if (known !== undefined) return known.map
    const one = await parsed(readMap, digest)
    kept.set(digest, one)
    return one.map
  }

  return async (digest, at) => {
    if (at.length === 0) return null
    try {
      const map = await mapOf(digest)
      return map && firstOwn(map, at)
    } catch {
      // If the map cannot be read, only the position is missing from the answer.
      return null
    }
  }
}

async function parsed(
  readMap: (digest: string) => Promise<string | null>,
  digest: string,
): Promise<Kept> {
  const text = await readMap(digest)
  // A larger map would block the host for the position of one error.
  return text === null || text.length > INPUTS.source_map.maxBytes
    ? { map: null, length: 1 }
    : { map: new SourceMap(JSON.parse(text)), length: text.length }
}

function firstOwn(map: SourceMap, at: readonly Position[]): string | null {
  for (const { line, column } of at) {
    const found = map.findEntry(line - 1, column - 1)
    if (!('originalSource' in found) || !isOwn(found.originalSource)) continue
    return `${found.originalSource}:${found.originalLine + 1}:${found.originalColumn + 1}`
  }
  return null
}

/** Matches a path inside the folder. The compiler removes the names of other files. */
const isOwn = (source: unknown): source is string =>
  typeof source === 'string' &&
  /^[\w@ .+()[\]/-]{1,200}$/.test(source) &&
  !/^\/|(^|\/)\.\.(\/|$)/.test(source)
