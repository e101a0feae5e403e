/**
 * Pattern for names of tables in SQL: quoted as the query builder writes them, or plain after `from` and
 * `join`, except functions (`join unnest(...)`) and columns (`is distinct from r.id`).
 */
const NAMED =
  /\b(?:from|join)\s+(?:"([^"]+)"|([a-z_][a-z0-9_]*)(?![a-z0-9_]*[.(]))|"([^"]+)"\."[^"]+"/gi

/**
 * Returns every table that a query reads. It may name too many (an alias, `extract(year from day)`): such a
 * name has no version, so the list is not cached. It must not name too few.
 */
export function tablesNamed(text: string): string[] {
  const names = [...text.matchAll(NAMED)].map(
    ([, quoted, plain, qualifier = '']) => quoted ?? plain ?? qualifier,
  )
  return [...new Set(names.filter((name) => name !== 'lateral'))]
}
