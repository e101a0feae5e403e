/** Executor of transitions: writes the rows, then carries out the effects, in the caller's transaction. */
import type { Db } from '../../database/database.ts'
import { recordActivity } from '../kernel/audit/activity.ts'
import { openErrorTask } from '../tasks/error-task.ts'
import type { Effect, Transition } from './effects.ts'

/** Parts of an executor that depend on the kind of row: how it is written, and its own effects. */
export type Executor<Row, Write, Own> = {
  write(tx: Db, row: Row, write: Write): Promise<Row>
  carryOut(tx: Db, row: Row, effect: Own): Promise<void>
}

/** Carries out a transition of a locked row. @returns the row after the last write */
export async function execute<Row, Write, Own extends { kind: string }>(
  tx: Db,
  row: Row,
  { writes, effects }: Transition<Write, Own>,
  executor: Executor<Row, Write, Own>,
): Promise<Row> {
  let current = row
  for (const write of writes) current = await executor.write(tx, current, write)
  for (const effect of effects)
    await (isCommon(effect) ? carryOut(tx, effect) : executor.carryOut(tx, current, effect))
  return current
}

const isCommon = (effect: { kind: string }): effect is Effect =>
  effect.kind === 'record' || effect.kind === 'report_error'

async function carryOut(tx: Db, effect: Effect): Promise<void> {
  if (effect.kind === 'report_error') {
    await openErrorTask(tx, effect.domainId, effect.trouble)
    return
  }
  const { actor, event, targets, metadata, outcome } = effect
  await recordActivity(tx, actor, event, targets, metadata, outcome)
}
