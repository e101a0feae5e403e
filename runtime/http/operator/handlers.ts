/** Handlers of the operator's endpoints: one line each, and nothing else. */

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
import { readCalledHosts, readCallMinutes } from '../../connectors/lifecycle/read-call-minutes.ts'
import { reportOf, upload } from '../../connectors/lifecycle/upload.ts'
import { uncovered, wantsOf } from '../../connectors/registry/requested-grant.ts'
import { normalizeId } from '../../contract/connector/manifest.ts'
import { BOUNDS_MS, MAX_STEPS } from '../../contract/endpoints/call-minutes.ts'
import { entryOf } from '../../contract/endpoints/generation.ts'
import type { Changed, OperatorEndpointName } from '../../contract/endpoints/operator.ts'
import { RuntimeError } from '../../contract/errors/errors.ts'
import { CoreError } from '../../contract/errors/problem.ts'
import { CAUSE_KINDS } from '../../contract/models/causes.ts'
import { recordActivity } from '../../core/kernel/audit/activity.ts'
import { listJobs } from '../../core/kernel/jobs/list.ts'
import { DEAD, QUEUE_NAMES } from '../../core/kernel/jobs/queues.ts'
import { keptText } from '../../core/kernel/kept-text.ts'
import { mailStatus, sendTestMail } from '../../core/mail/mail-status.ts'
import { erasePerson } from '../../core/personal-data/erase.ts'
import { exportPerson } from '../../core/personal-data/export.ts'
import { acceptDrop, cancelRun, listRuns } from '../../core/sync/progress.ts'
import { changeSettings, readSyncSettings } from '../../core/sync/settings.ts'
import * as webhooks from '../../core/webhooks/manage.ts'
import { tryWebhook } from '../../core/webhooks/smoke-test.ts'
import { toOperatorsWebhook } from '../../core/webhooks/view.ts'
import { examine } from '../../doctor/examine.ts'
import { endWaitingTokens, rotationOf } from '../../rotation/rotation.ts'
import type { Operating, OperatorHandler } from './handler.ts'
import { OVERVIEW_HANDLERS } from './overview.ts'
import { fetchPublished, listPublished } from './published.ts'

export const OPERATOR_HANDLERS: { [N in OperatorEndpointName]: OperatorHandler<N> } = {
  upload_package: async (op, { query, uploaded }) => {
    const { change_publisher: changePublisher } = query
    const change = { ...changeOfQuery(query), changePublisher }
    if (uploaded === null) throw new RuntimeError('input_invalid', 'the body must be a package')
    const { report, ...outcome } = await upload(op, uploaded, change)
    return { ...(await told(op, outcome, query)), package: report }
  },
  show_connector: async (op, { id }) => show(op, id),
  show_version: async (op, { id, params }) => {
    const { statement } = await newest(op.db, op.actor.domainId)
    const connector = connectorOf(statement, id)
    const version = versionOf(connector, params['digest'] ?? '')
    const { installed_at: _at, served_until: _until, ...facts } = version
    const manifest = await readable(op, version.digest)
    return reportOf(op, connector, { id: connector.id, ...facts }, [], manifest)
  },
  activate_connector: async (op, { id, body }) =>
    told(
      op,
      await activate(op, id, {
        ...changeOf(body),
        digest: body.digest,
        grant: body.grant,
        allowBreaking: body.allow_breaking,
        allowDowngrade: body.allow_downgrade,
      }),
      body,
    ),
  disable_connector: async (op, { id, body }) => {
    const change = { ...changeOf(body), atOnce: body.at_once }
    const isIt = (row: { id: string | null }) =>
      row.id !== null && normalizeId(row.id) === normalizeId(id)
    if (!op.lifecycle.registry.list().some(isIt))
      throw new CoreError('not_found', `There is no connector ${JSON.stringify(id.slice(0, 64))}`)
    return told(op, await operate.switchOff(op, id, change), body)
  },
  enable_connector: async (op, { id, body }) =>
    told(op, await operate.switchOn(op, id, changeOf(body)), body),
  remove_connector: async (op, { id, query }) =>
    told(op, await operate.remove(op, id, changeOfQuery(query)), query),
  grant_to_connector: async (op, { id, body }) =>
    told(op, await grant(op, id, { ...changeOf(body), wants: body.wants }), body),
  revoke_from_connector: async (op, { id, body }) =>
    told(op, await revoke(op, id, { ...changeOf(body), wants: body.wants }), body),
  set_probe: async (op, { id, body }) => {
    const { statement } = await newest(op.db, op.actor.domainId)
    const connector = connectorOf(statement, id)
    const given = Object.entries(body).filter(([, value]) => value !== null)
    await op.db.transaction(async (tx) => {
      await setProbe(tx, op.vault, op.actor.domainId, connector.id, Object.fromEntries(given))
      await recordActivity(tx, op.actor, 'CONNECTOR_PROBE_SET', [target(connector.id)], {})
    })
    return { probe: true }
  },
  forget_probe: async (op, { id }) => {
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
  show_generation: async (op, { id }) => {
    const { db, actor } = op
    if (id === 'newest') {
      const { number, statement } = await newest(db, actor.domainId)
      return { generation: number, statement }
    }
    const number = numberOf(id)
    return { generation: number, statement: await stated(op, number) }
  },
  compare_generations: async (op, { id, query }) => {
    const to = numberOf(id)
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
      await operate.trust(op, {
        ...changeOf(body),
        name: body.name,
        publicKey: body.public_key,
      }),
      body,
    ),
  distrust_publisher: async (op, { id, query }) =>
    told(op, await operate.distrust(op, id, changeOfQuery(query)), query),
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
  list_call_minutes: async ({ db, actor }, { query }) => {
    const { hours, step_minutes: stepMinutes, group, capability } = query
    const steps = Math.ceil((hours * 60) / stepMinutes)
    if (steps > MAX_STEPS)
      throw new CoreError('invalid', [
        {
          loc: ['query', 'step_minutes'],
          msg: `${hours} hours would be ${steps} steps of ${stepMinutes} minutes; the maximum is ${MAX_STEPS}, so use longer steps`,
          type: 'value_error',
        },
      ])
    const which = { connector: query.connector_id, capability, hours, stepMinutes, group }
    return { bounds_ms: BOUNDS_MS, ...(await readCallMinutes(db, actor.domainId, which)) }
  },
  list_called_hosts: async ({ db, actor }, { query }) => ({
    items: await readCalledHosts(db, actor.domainId, {
      connector: query.connector_id,
      hours: query.hours,
    }),
  }),
  list_webhooks: ({ db, actor }) => webhooks.operatorsWebhooks(db, actor),
  create_webhook: ({ db, actor, parts }, { body }) =>
    webhooks.createWebhook(db, actor, body, parts),
  show_webhook: async ({ db, actor }, { id }) =>
    toOperatorsWebhook(db, await webhooks.findWebhook(db, actor, id)),
  update_webhook: ({ db, actor, parts }, { id, body }) =>
    webhooks.updateWebhook(db, actor, id, body, parts),
  delete_webhook: ({ db, actor }, { id, query }) =>
    webhooks.deleteWebhook(db, actor, id, query.dry_run),
  renew_webhook_secret: ({ db, actor, parts }, { id, body }) =>
    webhooks.renewSecret(db, actor, id, body.dry_run, parts),
  test_webhook: ({ db, actor, parts }, { id }) => tryWebhook(db, actor, id, parts),
  list_jobs: async ({ db }, { query }) => {
    const items = await listJobs(db, query)
    if (items.length === 0) requireQueue(query.queue)
    return { items }
  },
  mail_status: ({ db, post }) => mailStatus(db, post),
  test_mail: ({ db, actor, post }, { body }) => sendTestMail(db, actor, post, body),
  see_published_index: (op, { body }) => seeIndex(op, body),
  list_published: (op, { query }) => listPublished(op, query),
  install_published: async (op, { body }) => {
    const uploaded = await fetchPublished(op, body.name)
    const change = { ...changeOf(body), changePublisher: body.change_publisher }
    const { report, ...outcome } = await upload(op, uploaded, change)
    return { ...(await told(op, outcome, body)), package: report }
  },
  get_rotation: ({ db, vault }) => rotationOf(db, vault.keyIds),
  end_waiting_tokens: async ({ db, actor }, { body }) => ({
    ended: await endWaitingTokens(db, actor, body.dry_run),
  }),
  examine: ({ db, vault, disk, keptDays }) => examine(disk, { db, keyIds: vault.keyIds, keptDays }),
  list_syncs: async ({ db, actor }, { query }) => ({
    items: await listRuns(db, actor.domainId, { appId: query.app_id, limit: query.limit }),
  }),
  accept_sync: ({ db, actor, parts }, { id, body }) =>
    acceptDrop(db, actor, numberOf(id), { dryRun: body.dry_run, send: parts.send }),
  cancel_sync: ({ db, actor }, { id, body }) => cancelRun(db, actor, numberOf(id), body.dry_run),
  show_sync_settings: ({ db, actor }, { id }) => readSyncSettings(db, actor.domainId, id),
  change_sync_settings: ({ db, actor }, { id, body }) =>
    changeSettings(db, actor, id, body.settings, body.dry_run),
  list_settings: async ({ settings }) => ({ items: [...settings] }),
  export_person: ({ db, actor }, { body }) => exportPerson(db, actor, body.email),
  erase_person: ({ db, actor }, { body }) =>
    erasePerson(db, actor, { email: body.email, dryRun: body.dry_run }),
}

/** Checks that a queue exists. @throws CoreError `invalid` */
function requireQueue(queue: string | null): void {
  const names: readonly string[] = [...QUEUE_NAMES, DEAD]
  if (queue === null || names.includes(queue)) return
  const msg = `Input should be one of ${names.join(', ')}`
  throw new CoreError('invalid', [{ loc: ['query', 'queue'], msg, type: 'enum' }])
}

/** Checks the kind of a cause. @throws CoreError `invalid` for an unknown kind */
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

/** Returns the number of a generation or a run, or NaN, which matches none, if the id is not a number. */
const numberOf = (id: string): number => (/^[0-9]{1,15}$/.test(id) ? Number(id) : Number.NaN)

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

/** Returns the outcome of a change once the other hosts serve it, or the wait is over. */
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
    entryOf(statement, id) ?? (served ? blank(served.id) : connectorOf(statement, id))
  const manifest = connector.active
    ? await readable(op, connector.active)
    : (served?.manifest ?? null)
  const wants = manifest ? wantsOf(manifest) : []
  return {
    ...connector,
    wants,
    // Built-in connectors and those in a folder need no grants.
    withheld: connector.active ? uncovered(wants, connector.grants) : [],
    probe: await hasProbe(db, actor.domainId, connector.id),
  }
}

async function stated({ db, actor }: Operating, number: number) {
  const found = await statementOf(db, actor.domainId, number)
  if (!found) throw new CoreError('not_found', 'There is no such generation')
  return found
}
