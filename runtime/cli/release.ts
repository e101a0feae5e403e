/** `keyway release`: ends the quarantine of a connector on the running host. */
import { callOperator, findOperator } from './operator-client.ts'

export async function release(id: string, { url }: { url?: string }): Promise<void> {
  const target = await findOperator(url)
  const path = `/operator/connectors/${encodeURIComponent(id)}/release`
  const answer = (await callOperator(target, { method: 'POST', path })) as { released: boolean }
  console.log(
    answer.released
      ? `${id} takes calls again`
      : `${id} was neither under suspicion nor in quarantine`,
  )
}
