/** Circles of a graph: the strongly connected components of more than one node (Tarjan 1972). */

/**
 * @param graph Node -> the nodes that it leads to; a node that is no key leads nowhere.
 * @returns the members of each circle, sorted; the circles in the order of their first members.
 */
export function circlesOf(graph: ReadonlyMap<string, Iterable<string>>): string[][] {
  const index = new Map<string, number>()
  const low = new Map<string, number>()
  const stack: string[] = []
  const circles: string[][] = []

  function visit(node: string): number {
    const own = index.size
    index.set(node, own)
    low.set(node, own)
    stack.push(node)
    for (const next of graph.get(node) ?? []) {
      const reached = index.has(next) ? (stack.includes(next) ? index.get(next) : own) : visit(next)
      low.set(node, Math.min(low.get(node) ?? own, reached ?? own))
    }
    if (low.get(node) === own) {
      const members = stack.splice(stack.indexOf(node))
      if (members.length > 1) circles.push(members.sort())
    }
    return low.get(node) ?? own
  }

  for (const node of graph.keys()) if (!index.has(node)) visit(node)
  return circles.sort(([a = ''], [b = '']) => (a < b ? -1 : 1))
}
