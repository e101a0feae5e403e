/**
 * Names of tables in SQL: quoted as the query builder writes them, or plain after `from` and `join`, but for functions
 * (`join unnest(...)`) and columns (`is distinct from r.id`).
 */
const NAMED =
  /\b(?:from|join)\s+(?:"([^"]+)"|([a-z_][a-z0-9_]*)(?![a-z0-9_]*[.(]))|"([^"]+)"\."[^"]+"/gi

/**
 * Every table that a question looks into. It may name too many (an alias, `extract(year from day)`): no version is known
 * of such a name, so that the list is not remembered. It must not name too few.
 */
export function tablesNamed(text: string): string[] {
  const names = [...text.matchAll(NAMED)].map(
    ([, quoted, plain, qualifier = '']) => quoted ?? plain ?? qualifier,
  )
  return [...new Set(names.filter((name) => name !== 'lateral'))]
}
