/** Which function answers which operator's endpoint: one line each, nothing else. */

import { activate } from '../../connectors/lifecycle/activate.ts'
import { blank, connectorOf, versionOf } from '../../connectors/lifecycle/desired-state.ts'
import { difference } from '../../connectors/lifecycle/difference.ts'
import {
  type ChangeOutcome,
  listGenerations,
  newest,
  statementOf,
} from '../../connectors/lifecycle/generations.ts'
import { grant, revoke } from '../../connectors/lifecycle/grants.ts'
import { converged, listNodes, problemsOf } from '../../connectors/lifecycle/nodes.ts'
import * as operate from '../../connectors/lifecycle/operate.ts'
import { type ChangeOptions, readable } from '../../connectors/lifecycle/operating.ts'
import { forgetProbe, hasProbe, setProbe } from '../../connectors/lifecycle/probes.ts'
import { seeIndex } from '../../connectors/lifecycle/published-indexes.ts'
import { distrust, trust } from '../../connectors/lifecycle/publishers.ts'
import { reportOf, upload } from '../../connectors/lifecycle/upload.ts'
import { uncovered, wantsOf } from '../../connectors/registry/requested-grant.ts'
import { normalizeId } from '../../contract/connector/manifest.ts'
import { saidOf } from '../../contract/endpoints/generation.ts'
import type { Changed, OperatorEndpointName } from '../../contract/endpoints/operator.ts'
import { RuntimeError } from '../../contract/errors/errors.ts'
import { CoreError } from '../../contract/errors/problem.ts'
import { CAUSE_KINDS } from '../../contract/models/causes.ts'
import { recordActivity } from '../../core/kernel/audit/activity.ts'
import { keptText } from '../../core/kernel/kept-text.ts'
import { examine } from '../../doctor/examine.ts'
import { CALL_MINUTE_HANDLERS } from './call-minutes.ts'
import type { Operating, OperatorHandler } from './handler.ts'
import { JOB_HANDLERS } from './jobs.ts'
import { MAIL_HANDLERS } from './mail.ts'
import { OVERVIEW_HANDLERS } from './overview.ts'
import { PERSONAL_DATA_HANDLERS } from './personal-data.ts'
import { fetchPublished, listPublished } from './published.ts'
import { ROTATION_HANDLERS } from './rotation.ts'
import { SYNC_HANDLERS } from './syncs.ts'
import { WEBHOOK_HANDLERS } from './webhooks.ts'

export const OPERATOR_HANDLERS: { [N in OperatorEndpointName]: OperatorHandler<N> } = {
  upload_package: async (op, { query, uploaded }) => {
    const { change_publisher: changePublisher } = query
    const change = { ...changeOfQuery(query), changePublisher }
    if (uploaded === null) throw new RuntimeError('input_invalid', 'the body must be a package')
    const { report, ...outcome } = await upload(op, uploaded, change)
    return { ...(await told(op, outcome, query)), package: report }
  },
  show_connector: async (op, { params }) => show(op, idOf(params)),
  show_version: async (op, { params }) => {
    const { statement } = await newest(op.db, op.actor.domainId)
    const connector = connectorOf(statement, idOf(params))
    const version = versionOf(connector, params['digest'] ?? '')
    const { installed_at: _at, served_until: _until, ...facts } = version
    const manifest = await readable(op, version.digest)
    return reportOf(op, connector, { id: connector.id, ...facts }, [], manifest)
  },
  activate_connector: async (op, { params, body }) =>
    told(
      op,
      await activate(op, idOf(params), {
        ...changeOf(body),
        digest: body.digest,
        grant: body.grant,
        allowBreaking: body.allow_breaking,
        allowDowngrade: body.allow_downgrade,
      }),
      body,
    ),
  disable_connector: async (op, { params, body }) => {
    const id = idOf(params)
    const change = { ...changeOf(body), atOnce: body.at_once }
    const isIt = (row: { id: string | null }) =>
      row.id !== null && normalizeId(row.id) === normalizeId(id)
    if (!op.lifecycle.registry.list().some(isIt))
      throw new CoreError('not_found', `There is no connector ${JSON.stringify(id.slice(0, 64))}`)
    return told(op, await operate.switchOff(op, id, change), body)
  },
  enable_connector: async (op, { params, body }) =>
    told(op, await operate.switchOn(op, idOf(params), changeOf(body)), body),
  remove_connector: async (op, { params, query }) =>
    told(op, await operate.remove(op, idOf(params), changeOfQuery(query)), query),
  grant_to_connector: async (op, { params, body }) =>
    told(op, await grant(op, idOf(params), { ...changeOf(body), wants: body.wants }), body),
  revoke_from_connector: async (op, { params, body }) =>
    told(op, await revoke(op, idOf(params), { ...changeOf(body), wants: body.wants }), body),
  set_probe: async (op, { params, body }) => {
    const { statement } = await newest(op.db, op.actor.domainId)
    const { id } = connectorOf(statement, idOf(params))
    const given = Object.entries(body).filter(([, value]) => value !== null)
    await op.db.transaction(async (tx) => {
      await setProbe(tx, op.vault, op.actor.domainId, id, Object.fromEntries(given))
      await recordActivity(tx, op.actor, 'CONNECTOR_PROBE_SET', [target(id)], {})
    })
    return { probe: true }
  },
  forget_probe: async (op, { params }) => {
    const id = idOf(params)
    await op.db.transaction(async (tx) => {
      if (!(await forgetProbe(tx, op.actor.domainId, id)))
        return void connectorOf((await newest(tx, op.actor.domainId)).statement, id)
      await recordActivity(tx, op.actor, 'CONNECTOR_PROBE_FORGOTTEN', [target(id)], {})
    })
    return { probe: false }
  },
  list_generations: async ({ db, actor }, { query }) => ({
    items: await listGenerations(db, actor.domainId, {
      limit: query.limit,
      before: query.before === 0 ? null : query.before,
    }),
  }),
  show_generation: async (op, { params }) => {
    const { db, actor } = op
    if (params['generation'] === 'newest') {
      const { number, statement } = await newest(db, actor.domainId)
      return { generation: number, statement }
    }
    const number = numberOf(params)
    return { generation: number, statement: await stated(op, number) }
  },
  compare_generations: async (op, { params, query }) => {
    const to = numberOf(params)
    const [before, after] = [await stated(op, query.since), await stated(op, to)]
    return { from: query.since, to, difference: difference(before, after) }
  },
  roll_back: async (op, { body }) =>
    told(
      op,
      await operate.rollBack(op, { ...changeOf(body), to: body.to, grant: body.grant }),
      body,
    ),
  list_publishers: async ({ db, actor }) => ({
    items: (await newest(db, actor.domainId)).statement.publishers,
  }),
  trust_publisher: async (op, { body }) =>
    told(
      op,
      await trust(op, {
        ...changeOf(body),
        name: body.name,
        publicKey: body.public_key,
      }),
      body,
    ),
  distrust_publisher: async (op, { params, query }) =>
    told(op, await distrust(op, params['key'] ?? '', changeOfQuery(query)), query),
  list_nodes: async ({ db, actor, lifecycle }) => ({
    generation: lifecycle.generation(),
    items: await listNodes(db, actor.domainId),
  }),
  list_calls: async ({ lifecycle }, { query }) => ({
    items: await lifecycle.calls.listAll({
      connector: query.connector_id,
      app: query.app_id,
      cause: causeOf(query.cause),
      limit: query.limit,
    }),
  }),
  ...OVERVIEW_HANDLERS,
  ...CALL_MINUTE_HANDLERS,
  ...WEBHOOK_HANDLERS,
  ...JOB_HANDLERS,
  ...MAIL_HANDLERS,
  see_published_index: (op, { body }) => seeIndex(op, body),
  list_published: (op, { query }) => listPublished(op, query),
  install_published: async (op, { body }) => {
    const uploaded = await fetchPublished(op, body.name)
    const change = { ...changeOf(body), changePublisher: body.change_publisher }
    const { report, ...outcome } = await upload(op, uploaded, change)
    return { ...(await told(op, outcome, body)), package: report }
  },
  ...ROTATION_HANDLERS,
  examine: ({ db, vault, disk, keptDays }) => examine(disk, { db, keyIds: vault.keyIds, keptDays }),
  ...SYNC_HANDLERS,
  list_settings: async ({ settings }) => ({ items: [...settings] }),
  ...PERSONAL_DATA_HANDLERS,
}

/** @throws CoreError invalid for a kind that there is not. */
function causeOf(text: string | null): string | null {
  const [kind] = text?.split(':') ?? []
  if (kind === undefined || CAUSE_KINDS.some((one) => one === kind)) return text
  const msg = `Input should be one of ${CAUSE_KINDS.join(', ')}, alone or with an id as in sync:17`
  throw new CoreError('invalid', [{ loc: ['query', 'cause'], msg, type: 'enum' }])
}

const target = (id: string) => ({
  target_type: 'Connector',
  name: id.slice(0, 64),
  id: id.slice(0, 64),
})

const idOf = (params: Record<string, string>): string => params['connector_id'] ?? ''

/** The number of a generation; NaN, which none has, for what is none. */
const numberOf = ({ generation = '' }: Record<string, string>): number =>
  /^[0-9]{1,10}$/.test(generation) ? Number(generation) : Number.NaN

type Wanted = {
  reason: string
  expected_generation: number | null
  dry_run: boolean
}

const changeOf = ({ reason, expected_generation, dry_run }: Wanted): ChangeOptions => ({
  reason,
  expected: expected_generation,
  dryRun: dry_run,
})

const changeOfQuery = ({
  reason,
  expected_generation,
  dry_run,
}: {
  reason: string | null
  expected_generation: number
  dry_run: boolean
}): ChangeOptions => ({
  reason: keptText(reason ?? '', 1000),
  expected: expected_generation < 0 ? null : expected_generation,
  dryRun: dry_run,
})

/** Answers when the other hosts serve it, or the wait is over. */
async function told(
  { db, actor, lifecycle, signal }: Operating,
  { number, difference: words, changed }: ChangeOutcome,
  { wait_ms }: { wait_ms: number },
): Promise<Changed> {
  await lifecycle.catchUp()
  return {
    generation: number,
    changed,
    difference: words,
    converged: await converged(db, actor.domainId, number, wait_ms, signal),
    problems: await problemsOf(db, actor.domainId),
  }
}

async function show(op: Operating, id: string) {
  const { db, actor } = op
  const { statement } = await newest(db, actor.domainId)
  const served = op.lifecycle.registry.find(id)
  const connector =
    saidOf(statement, id) ?? (served ? blank(served.id) : connectorOf(statement, id))
  const manifest = connector.active
    ? await readable(op, connector.active)
    : (served?.manifest ?? null)
  const wants = manifest ? wantsOf(manifest) : []
  return {
    ...connector,
    wants,
    // What is built in, or lies in a folder, serves without grants.
    withheld: connector.active ? uncovered(wants, connector.grants) : [],
    probe: await hasProbe(db, actor.domainId, connector.id),
  }
}

async function stated({ db, actor }: Operating, number: number) {
  const found = await statementOf(db, actor.domainId, number)
  if (!found) throw new CoreError('not_found', 'There is no such generation')
  return found
}
