/** Handler of the operator's overview. */
import semver from 'semver'
import { newest } from '../../connectors/lifecycle/generations.ts'
import { listNodes } from '../../connectors/lifecycle/nodes.ts'
import type { NodeRow, Statement } from '../../contract/endpoints/generation.ts'
import {
  ATTENTION,
  ATTENTION_KINDS,
  type Attention,
  type AttentionKind,
  type OVERVIEW_ENDPOINTS,
} from '../../contract/endpoints/overview.ts'
import type { Webhook } from '../../contract/endpoints/webhooks.ts'
import type { ConnectorListing } from '../../contract/models/connector-listing.ts'
import { counts, troubles, turns } from '../../core/measures/overview.ts'
import { operatorsWebhooks } from '../../core/webhooks/manage.ts'
import type { OperatorHandler } from './handler.ts'

type Handlers = { [N in keyof typeof OVERVIEW_ENDPOINTS]: OperatorHandler<N> }

const of = (
  kind: AttentionKind,
  name: string,
  { id = null, detail = null, since = null }: Partial<Pick<Attention, 'id' | 'detail' | 'since'>>,
): Attention => ({ kind, level: ATTENTION[kind].level, name, id, detail, since })

const STATES: Partial<Record<ConnectorListing['state'], AttentionKind>> = {
  quarantined: 'connector_quarantined',
  suspect: 'connector_suspect',
  ghost: 'connector_broken',
}

const ofConnectors = (rows: readonly ConnectorListing[]): Attention[] =>
  rows.flatMap(({ id, folder, state, reason }) => {
    const kind = STATES[state]
    return kind ? [of(kind, id ?? folder ?? '?', { id, detail: reason })] : []
  })

/** Returns the connectors with a version that is newer than the serving one and has never served. */
const ofVersions = ({ connectors }: Statement): Attention[] =>
  Object.values(connectors).flatMap(({ id, active, versions, disabled }) => {
    const serving = versions.find(({ digest }) => digest === active)
    const [latest] = [...versions].sort((a, b) => semver.rcompare(a.version, b.version))
    if (!latest || disabled || latest.served_until !== null) return []
    if (serving && !semver.gt(latest.version, serving.version)) return []
    const detail = serving ? `${serving.version} serves` : 'No version is served'
    return [
      of('version_waits', `${id} ${latest.version}`, { id, detail, since: latest.installed_at }),
    ]
  })

const ofWebhooks = (webhooks: readonly Webhook[]): Attention[] =>
  webhooks.flatMap(({ id, name, feed }) =>
    feed?.failing_since
      ? [
          of('webhook_failing', name, {
            id,
            detail: feed.problem ?? null,
            since: feed.failing_since,
          }),
        ]
      : [],
  )

const ofHosts = (nodes: readonly NodeRow[]): Attention[] =>
  nodes
    .filter(({ live, problems }) => live && problems.length > 0)
    .map(({ node, problems }) =>
      of('host_problem', node, { id: node, detail: problems.join('; ') }),
    )

/** Returns everything that needs a person's attention: worst first, then the longest waiting. */
function attentionOf(facts: {
  connectors: readonly ConnectorListing[]
  statement: Statement
  webhooks: readonly Webhook[]
  nodes: readonly NodeRow[]
  troubles: readonly Attention[]
}): Attention[] {
  const all = [
    ...ofConnectors(facts.connectors),
    ...ofVersions(facts.statement),
    ...ofWebhooks(facts.webhooks),
    ...ofHosts(facts.nodes),
    ...facts.troubles,
  ]
  const rank = ({ kind }: Attention) => ATTENTION_KINDS.indexOf(kind)
  return all.sort(
    (a, b) => rank(a) - rank(b) || (a.since ?? '~').localeCompare(b.since ?? '~', 'en'),
  )
}

export const OVERVIEW_HANDLERS: Handlers = {
  show_overview: async ({ db, actor, lifecycle, listConnectors }) => {
    const { domainId } = actor
    const nodes = await listNodes(db, domainId)
    const connectors = listConnectors()
    return {
      attention: attentionOf({
        connectors,
        nodes,
        statement: (await newest(db, domainId)).statement,
        webhooks: (await operatorsWebhooks(db, actor)).items,
        troubles: await troubles(db, domainId),
      }),
      turns: await turns(db, domainId),
      ...(await counts(db, domainId)),
      connectors: {
        serving: connectors.filter(({ serving }) => serving).length,
        all: connectors.length,
      },
      hosts: {
        live: nodes.filter(({ live }) => live).length,
        all: nodes.length,
        generation: lifecycle.generation(),
      },
    }
  },
}
