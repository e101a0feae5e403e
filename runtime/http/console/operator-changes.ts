/**
 * OPERATOR_CHANGES: changes that operators make in the console, one row each. The operator interface performs
 * them.
 */
import { html } from 'hono/html'
import { OPERATOR_ENDPOINTS, type OperatorEndpointName } from '../../contract/endpoints/operator.ts'
import { PageError } from '../frame/error-page.ts'
import { type About, type ConsoleChange, minus, plus, wordsFrom } from './change.ts'
import { pathOf } from './connector.ts'
import { field } from './parts.ts'
import type { ConsoleAsk, ConsoleVisit } from './visit.ts'

/** Endpoints that can report the difference beforehand. */
type Changing = {
  [N in OperatorEndpointName]: 'difference' extends keyof Answer<N> ? N : never
}[OperatorEndpointName]
type Answer<N extends OperatorEndpointName> = Awaited<ReturnType<typeof asked<N>>>

const asked = <N extends OperatorEndpointName>(visit: ConsoleVisit, name: N, given: ConsoleAsk) =>
  visit.ask(name, given)

/** Longest wait of a page for the other hosts, in milliseconds. */
const WAIT_MS = 5000

/** Returns the input of an endpoint: the choices, and the members that all changes share. */
function given(name: Changing, about: About, own: object, dryRun: boolean): ConsoleAsk {
  const seen = about.get('expected_generation')
  const row = OPERATOR_ENDPOINTS[name]
  const change = {
    reason: about.get('reason'),
    dry_run: dryRun,
    wait_ms: WAIT_MS,
    ...(/^\d{1,9}$/.test(seen) && !dryRun ? { expected_generation: Number(seen) } : {}),
  }
  if (row.body !== null) return { params: about.params, body: { ...change, ...own } }
  const query = Object.fromEntries(
    Object.entries({ ...change, ...own }).map(([key, value]) => [key, String(value)]),
  )
  return { params: about.params, query }
}

/** Returns a change by an endpoint that reports the difference beforehand. */
const by = (
  name: Changing,
  own: (about: About) => object = () => ({}),
): Pick<ConsoleChange, 'preview' | 'act'> => ({
  async preview(visit, about) {
    const told = await visit.ask(name, given(name, about, own(about), true))
    return {
      lines: told.difference,
      ...('generation' in told ? { generation: told.generation } : {}),
    }
  },
  act: async (visit, about) => void (await visit.ask(name, given(name, about, own(about), false))),
})

const idOf = ({ params }: About): string => params['connector_id'] ?? ''
const toConnector = (about: About): string => pathOf(idOf(about))

/** Changes of one connector, by the key of their texts. */
type Titled =
  | 'disable'
  | 'enable'
  | 'remove'
  | 'release'
  | 'grant'
  | 'revoke'
  | 'activate'
  | 'forgetProbe'

const ofConnector = (verb: string, key: Titled) =>
  ({
    path: `/console/connectors/:connector_id/${verb}`,
    ...{ place: 'connectors', who: 'operator', reason: 'asked', back: toConnector },
    does: verb,
    ...wordsFrom((t) => t.console.operator_change[key], idOf),
  }) satisfies Partial<ConsoleChange>

const wants = (about: About): object => ({ wants: about.all('want') })

export const OPERATOR_CHANGES = {
  disable: {
    ...ofConnector('disable', 'disable'),
    ...by('disable_connector', (about) => ({ at_once: about.get('at_once') === 'yes' })),
    danger: true,
    options: (about, t) =>
      about.get('at_once') === 'yes'
        ? html`<p class="small"><a href="${toConnector(about)}/disable">${t.console.operator_change.notAtOnce}</a></p>`
        : html`<p class="small"><a href="${toConnector(about)}/disable?at_once=yes">${t.console.operator_change.atOnce}</a></p>`,
  },
  enable: { ...ofConnector('enable', 'enable'), ...by('enable_connector') },
  remove: {
    ...ofConnector('remove', 'remove'),
    ...by('remove_connector'),
    danger: true,
    back: () => '/console/connectors',
  },
  release: {
    ...ofConnector('release', 'release'),
    reason: 'none',
    preview: async (visit, about) => ({
      lines: [plus(visit.t.console.operator_change.releases(servedId(visit, idOf(about))))],
    }),
    async act(visit, about) {
      const { principal, deps } = visit
      await deps.releaseConnector(servedId(visit, idOf(about)), async () => principal)
    },
  },
  grant: { ...ofConnector('grant', 'grant'), ...by('grant_to_connector', wants) },
  revoke: {
    ...ofConnector('revoke', 'revoke'),
    ...by('revoke_from_connector', wants),
    danger: true,
  },
  activate: {
    ...ofConnector('activate', 'activate'),
    ...by('activate_connector', (about) => ({
      digest: about.get('digest'),
      grant: about.get('grant') === 'all' ? 'all' : [],
      allow_breaking: about.get('allow_breaking') === 'yes',
      allow_downgrade: about.get('allow_downgrade') === 'yes',
    })),
    instead: (about, t) => {
      if (about.get('grant') === 'all') return html``
      const kept = ['digest', 'allow_breaking', 'allow_downgrade']
        .map((name) => [name, about.get(name)])
        .filter(([, value]) => value !== '')
      const query = new URLSearchParams([...kept, ['grant', 'all']])
      return html`<a class="btn main" href="?${query}">${t.console.version.grantToo}</a>`
    },
  },
  'forget-probe': {
    ...ofConnector('forget-probe', 'forgetProbe'),
    reason: 'none',
    danger: true,
    preview: async (visit, { params }) => {
      const { id, probe } = await visit.ask('show_connector', { params })
      return { lines: [probe && minus(visit.t.console.operator_change.forgets(id))] }
    },
    act: async (visit, { params }) => void (await visit.ask('forget_probe', { params })),
  },
  rollback: {
    path: '/console/generations/:generation/rollback',
    ...{ place: 'connectors', who: 'operator', does: 'rolls back', reason: 'asked' },
    ...wordsFrom(
      (t) => t.console.operator_change.rollback,
      ({ params }) => params['generation'] ?? '',
    ),
    ...by('roll_back', (about) => ({
      to: /^\d{1,9}$/.test(about.params['generation'] ?? '')
        ? Number(about.params['generation'])
        : -1,
      grant: about.get('grant') === 'all' ? 'all' : [],
    })),
    options: (about, t) =>
      about.get('grant') === 'all'
        ? html``
        : html`<p class="small"><a href="/console/generations/${about.params['generation'] ?? ''}/rollback?grant=all">${t.console.operator_change.rollback.grantToo}</a></p>`,
    back: () => '/console/generations',
  },
  trust: {
    path: '/console/publishers/trust',
    ...{ place: 'connectors', who: 'operator', does: 'trusts a key', reason: 'asked' },
    ...wordsFrom((t) => t.console.operator_change.trust),
    fields: (
      about,
      t,
    ) => html`${field({ t, id: 'name', label: t.console.operator_change.trust.name, value: about.get('name'), most: 200, required: true })}
<div class="field"><label for="public_key">${t.console.operator_change.trust.key}</label><textarea id="public_key" name="public_key" class="mono" rows="5" maxlength="4000" required spellcheck="false">
${about.get('public_key')}</textarea></div>`,
    ...trusting(),
    back: () => '/console/publishers',
  },
  distrust: {
    path: '/console/publishers/:key/distrust',
    ...{ place: 'connectors', who: 'operator', does: 'stops trusting a key', reason: 'asked' },
    ...wordsFrom(
      (t) => t.console.operator_change.distrust,
      ({ params }) => params['key'] ?? '',
    ),
    danger: true,
    ...by('distrust_publisher'),
    back: () => '/console/publishers',
  },
} as const satisfies Record<string, ConsoleChange>

/** Returns the change that trusts a key. Without input there is no preview. */
function trusting(): Pick<ConsoleChange, 'preview' | 'act'> {
  const { preview, act } = by('trust_publisher', (about) => ({
    name: about.get('name'),
    public_key: about.get('public_key'),
  }))
  return {
    act,
    preview: (visit, about) =>
      about.get('public_key') === '' ? Promise.resolve({ lines: null }) : preview(visit, about),
  }
}

/** Returns the id of a served connector. @throws CoreError `not_found` */
function servedId({ deps, t }: ConsoleVisit, id: string): string {
  const found = deps.listConnectors().find((one) => one.id === id)
  if (found?.id) return found.id
  throw new PageError('not_found', t.console.operator_change.noSuch)
}
