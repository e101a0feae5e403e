/** The hosts on one database: the generation that each serves, and whether it is alive. */
import { and, eq, lt, sql } from 'drizzle-orm'
import type { NodeRow } from '../../contract/endpoints/generation.ts'
import { isLive } from '../../core/kernel/deployment/deployment.ts'
import type { Db } from '../../database/database.ts'
import { nodes } from '../../database/schema/lifecycle.ts'

/** Seconds after which a missing host is forgotten. */
const FORGOTTEN_SECONDS = 3600
/** Interval of looks at the other hosts, in milliseconds. */
const LOOK_MS = 50

/** Reports what a host serves, and which secrets it has. */
export async function reportSeen(
  db: Db,
  domainId: string,
  node: { id: string; generation: number; problems: string[]; keyIds: string[] },
): Promise<void> {
  const { id: _, ...status } = node
  const set = { ...status, seenAt: sql`now()` }
  await db
    .insert(nodes)
    .values({ ...node, domainId })
    .onConflictDoUpdate({ target: nodes.id, set })
  await db
    .delete(nodes)
    .where(lt(nodes.seenAt, sql`now() - make_interval(secs => ${FORGOTTEN_SECONDS})`))
}

/** Reports that the host is stopping, so that no operation waits for it. */
export async function reportGone(db: Db, id: string): Promise<void> {
  await db.delete(nodes).where(eq(nodes.id, id))
}

export async function listNodes(db: Db, domainId: string): Promise<NodeRow[]> {
  const rows = await db
    .select({
      node: nodes.id,
      generation: nodes.generation,
      problems: nodes.problems,
      seenAt: nodes.seenAt,
      live: sql<boolean>`${isLive}`,
    })
    .from(nodes)
    .where(eq(nodes.domainId, domainId))
    .orderBy(nodes.id)
  return rows.map(({ seenAt, ...row }) => ({ ...row, seen_at: seenAt.toISOString() }))
}

/** Reads the problems of live hosts, each once. */
export async function problemsOf(db: Db, domainId: string): Promise<string[]> {
  const all = await listNodes(db, domainId)
  return [...new Set(all.flatMap(({ live, problems }) => (live ? problems : [])))]
}

/**
 * Waits until every live host serves a generation, or the time is over.
 *
 * @returns whether all do
 */
export async function converged(
  db: Db,
  domainId: string,
  generation: number,
  waitMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  const endMs = performance.now() + waitMs
  for (;;) {
    const [behind] = await db
      .select({ id: nodes.id })
      .from(nodes)
      .where(and(eq(nodes.domainId, domainId), lt(nodes.generation, generation), isLive))
      .limit(1)
    if (!behind) return true
    if (performance.now() >= endMs || signal.aborted) return false
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
  }
}
