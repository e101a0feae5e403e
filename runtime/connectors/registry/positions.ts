/**
 * Where in an author's own files an error was thrown: positions of the bundle, looked up in its source
 * map. Maps are read when something is thrown, and the last ones kept.
 */
import { SourceMap } from 'node:module'
import { createCache } from '../../bounded/cache.ts'
import type { Position } from '../../contract/errors/position.ts'
import { INPUTS } from '../../contract/limits/inputs.ts'

/** `connector.ts:31:12` of the first position that lies in the connector's folder; null for none. */
type Locate = (digest: string, at: readonly Position[]) => Promise<string | null>

type Kept = { map: SourceMap | null; length: number }

/** `readMap` gives the text of a bundle's source map. */
export function createLocate(readMap: (digest: string) => Promise<string | null>): Locate {
  // By the length of their text, of which the parsed map is many times as large.
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
      // A map that cannot be read takes nothing from the answer but the position.
      return null
    }
  }
}

async function parsed(
  readMap: (digest: string) => Promise<string | null>,
  digest: string,
): Promise<Kept> {
  const text = await readMap(digest)
  // Larger files would block the host for the position of one error.
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

/** A path inside the folder: the compiler gives other files no name. */
const isOwn = (source: unknown): source is string =>
  typeof source === 'string' &&
  /^[\w@ .+()[\]/-]{1,200}$/.test(source) &&
  !/^\/|(^|\/)\.\.(\/|$)/.test(source)
